//! Families of CPUs, and the rules of a plan that differ between them.

use std::fmt;

use strided_copy::{Model, Traits, Vendor};

/// A family of CPUs that copies were measured on. A plan is made for the family of the CPU that makes the
/// plan. Every CPU that is not in the list, and every ARM CPU, is [`Neutral`](Self::Neutral).
///
/// ```
/// use tensor_layout::relayout::CpuFamily;
///
/// println!("plans are made for {}", CpuFamily::of_this_cpu());
/// assert_eq!(CpuFamily::Zen4.to_string(), "Zen 4");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CpuFamily {
    /// Any other CPU. Its rules were not found on one machine alone.
    Neutral,
    /// AMD family 19h, models 00h to 0Fh and 20h to 5Fh.
    Zen3,
    /// AMD family 19h, all other models.
    Zen4,
    /// AMD family 1Ah.
    Zen5,
    /// Intel Xeon from Sapphire Rapids on: family 6, models 8Fh, CFh, ADh and AEh.
    SapphireRapids,
}

impl CpuFamily {
    /// All families.
    pub const ALL: [CpuFamily; 5] =
        [CpuFamily::Neutral, CpuFamily::Zen3, CpuFamily::Zen4, CpuFamily::Zen5, CpuFamily::SapphireRapids];

    /// The family of the CPU that this code runs on.
    #[must_use]
    pub fn of_this_cpu() -> CpuFamily {
        Self::of(Traits::of_this_cpu().model)
    }

    /// The family of a model. The numbers are from AMD's revision guides of families 19h and 1Ah, and from
    /// the Intel SDM, volume 4, table 2-1.
    pub(crate) const fn of(model: Option<Model>) -> CpuFamily {
        let Some(Model { vendor, family, number }) = model else { return CpuFamily::Neutral };
        match (vendor, family, number) {
            (Vendor::Amd, 0x19, 0..=0x0f | 0x20..=0x5f) => CpuFamily::Zen3,
            (Vendor::Amd, 0x19, _) => CpuFamily::Zen4,
            (Vendor::Amd, 0x1a, _) => CpuFamily::Zen5,
            (Vendor::Intel, 6, 0x8f | 0xcf | 0xad | 0xae) => CpuFamily::SapphireRapids,
            _ => CpuFamily::Neutral,
        }
    }

    /// The caches of the server CPUs of the family.
    pub(crate) fn traits(self) -> Traits {
        let caches = |l1: usize, l1_ways, l2: usize| Traits { l1: l1 << 10, l1_ways, l2: l2 << 10, ..Traits::ASSUMED };
        match self {
            CpuFamily::Neutral => Traits::ASSUMED,
            CpuFamily::Zen3 => caches(32, 8, 512),
            CpuFamily::Zen4 => caches(32, 8, 1024),
            CpuFamily::Zen5 => caches(48, 12, 1024),
            CpuFamily::SapphireRapids => caches(48, 12, 2048),
        }
    }

    pub(crate) fn rules(self) -> Rules {
        match self {
            CpuFamily::Neutral => Rules::NEUTRAL,
            CpuFamily::Zen3 => Rules { follows_rows: true, joins_tiles: true, ..Rules::NEUTRAL },
            CpuFamily::Zen4 => Rules { follows_rows: true, staged: Staged::ByPitches, ..Rules::NEUTRAL },
            CpuFamily::Zen5 => Rules { scattered: true, ..Rules::NEUTRAL },
            CpuFamily::SapphireRapids => {
                Rules { panel_width: 1 << 9, panels_in_l1: true, staged: Staged::InLongRegisters, ..Rules::NEUTRAL }
            }
        }
    }
}

impl fmt::Display for CpuFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CpuFamily::Neutral => "an unknown CPU",
            CpuFamily::Zen3 => "Zen 3",
            CpuFamily::Zen4 => "Zen 4",
            CpuFamily::Zen5 => "Zen 5",
            CpuFamily::SapphireRapids => "Sapphire Rapids",
        })
    }
}

/// The rules that differ between families. They were found by trial on the machines of docs/PERFORMANCE.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    /// The length of a panel's row, in bytes, if the row pitch is not a multiple of a page. With this length,
    /// lines at equal offsets of different pages are read in runs.
    pub(crate) panel_width: usize,
    /// Whether the next panel is prefetched into the L1 cache, for units of four bytes and more. This is
    /// faster on CPUs whose L2 cache does not hold the contents of the L1 cache.
    pub(crate) panels_in_l1: bool,
    /// Whether the hardware prefetcher follows a copy that reads all rows of a tile in turns (Zen 4). Where
    /// it does not (Zen 5), the copy reads rows in pairs.
    pub(crate) follows_rows: bool,
    /// Whether short runs of neighbouring tiles are joined before non-temporal stores, because rows of tiles
    /// evict each other in a cache of 8 ways (Zen 3). On a Zen 5 and a Zen 4, joining costs time.
    pub(crate) joins_tiles: bool,
    /// Whether copies in the L2 cache are in a scattered order, because lines that hardware prefetchers fetch
    /// are evicted before they are used (Zen 5).
    pub(crate) scattered: bool,
    pub(crate) staged: Staged,
}

/// Which panels go through a staging buffer before non-temporal stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Staged {
    Never,
    /// Panels of constant pitches, if the pitches make a staging buffer worth its cost (Zen 4).
    ByPitches,
    /// Panels of constant pitches if a register holds 16 units or more, and panels by tables of offsets.
    InLongRegisters,
}

impl Rules {
    const NEUTRAL: Rules = Rules {
        panel_width: 1 << 8,
        panels_in_l1: false,
        follows_rows: false,
        joins_tiles: false,
        scattered: false,
        staged: Staged::Never,
    };
}

// Checked when the library is compiled.
const _: () = {
    const fn is(vendor: Vendor, family: u32, number: u32, wanted: CpuFamily) -> bool {
        matches!(
            (CpuFamily::of(Some(Model { vendor, family, number })), wanted),
            (CpuFamily::Zen3, CpuFamily::Zen3)
                | (CpuFamily::Zen4, CpuFamily::Zen4)
                | (CpuFamily::Zen5, CpuFamily::Zen5)
                | (CpuFamily::SapphireRapids, CpuFamily::SapphireRapids)
                | (CpuFamily::Neutral, CpuFamily::Neutral)
        )
    }
    // Milan, Vermeer and Cezanne are Zen 3. Genoa, Raphael and Bergamo are Zen 4. Turin is Zen 5. Rome is in
    // no family.
    assert!(is(Vendor::Amd, 0x19, 1, CpuFamily::Zen3) && is(Vendor::Amd, 0x19, 0x21, CpuFamily::Zen3));
    assert!(is(Vendor::Amd, 0x19, 0x50, CpuFamily::Zen3) && is(Vendor::Amd, 0x19, 0x11, CpuFamily::Zen4));
    assert!(is(Vendor::Amd, 0x19, 0x61, CpuFamily::Zen4) && is(Vendor::Amd, 0x19, 0xa0, CpuFamily::Zen4));
    assert!(is(Vendor::Amd, 0x1a, 2, CpuFamily::Zen5) && is(Vendor::Amd, 0x17, 0x31, CpuFamily::Neutral));
    // Sapphire, Emerald and Granite Rapids; Ice Lake.
    assert!(
        is(Vendor::Intel, 6, 0x8f, CpuFamily::SapphireRapids) && is(Vendor::Intel, 6, 0xcf, CpuFamily::SapphireRapids)
    );
    assert!(is(Vendor::Intel, 6, 0xad, CpuFamily::SapphireRapids) && is(Vendor::Intel, 6, 0x6a, CpuFamily::Neutral));
};
