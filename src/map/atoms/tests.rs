use super::super::tests::{indices, map, offsets};
use super::*;

/// The tiles for layouts of two dimensions, and of three dimensions.
const TILES: [&[&str]; 2] = [
    &[
        "(2)(*,3)",
        "(2)(*,5)",
        "(3)(*,2)",
        "(4)(*,6)",
        "(*,2)(*,3)",
        "(*,4)(*,6)(2)",
        "(*,5)(*,2)",
        "(*,6)(4)",
        "(2,2)(*,3)",
        "(2,3)(*,2)",
        "(2,3)(*,2,1)",
        "(3,2)(*,4)",
        "(2,4)(*,6,1)",
        "(2,3)(*,4)(*,5)",
        "(2,5)(*,4,3)",
        "(*,4)(2)(*,3)",
        "(2,3)(*,*,4)",
        "(3,4)(*,*,10)(*,3)",
        "(*,6)(4)(*,*,9)",
        "(2,5)(*,4)(*,3)(*,7)",
        "(2,3)(*,2,1,1)",
        "(2,2)(*,3,*,3)",
    ],
    &["(2,3,2)(*,2,1)", "(2,2,2)(*,3,1)(*,2)", "(*,4,3)(*,2)", "(2,1,3)(*,*,2,2)", "(3,2,2)(*,4,1)", "(*,*,7)(3)"],
];

/// Returns lists of layouts to be compared with each other. The layouts of a list have equal sizes and
/// different tiles, and most are Irreducible.
fn families() -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (a, b) in (1..8).flat_map(|a| (1..8).map(move |b| (a, b))) {
        all.push(TILES[0].iter().map(|tiles| format!("u8[{a},{b}]{{1,0:T{tiles}}}")).collect());
        for c in [1, 4, 6, 7] {
            all.push(TILES[1].iter().map(|tiles| format!("u8[{a},{b},{c}]{{2,0,1:T{tiles}}}")).collect());
        }
    }
    // The second dimension has one element and is padded to two, so a dimension that `*` joins to it counts
    // in steps of two.
    let tiles = ["(3,2,2,3)(*,4,*,5)", "(3,2,2,3)(*,4,*,5)(3)", "(3,2,2,3)(*,2,*,5)", "(3,2,2,3)(*,4,*,4)"];
    all.push(tiles.map(|tiles| format!("u8[5,1,4,6]{{3,2,1,0:T{tiles}}}")).to_vec());
    all
}

/// Returns the value of every atom at an index, computed from the definition of an atom.
fn values(atoms: &Atoms<'_>, index: &[u64]) -> Vec<i128> {
    let mut values = Vec::new();
    for atom in &atoms.atoms {
        values.push(match atom {
            Atom::Digit(place) => {
                let DimDigit { dim, weight, range } = atoms.digits[*place];
                i128::from(index[dim] / weight % range)
            }
            Atom::Quotient(form, divisor) => sum(form, &values).div_euclid(*divisor),
            Atom::Remainder(form, divisor) => sum(form, &values).rem_euclid(*divisor),
        });
    }
    values
}

fn sum(form: &Form, values: &[i128]) -> i128 {
    form.terms().iter().map(|&(atom, weight)| weight * values[atom]).sum()
}

/// Returns the weight of an atom in a sum.
fn of(form: &Form, atom: usize) -> i128 {
    form.terms().iter().filter(|term| term.0 == atom).map(|term| term.1).sum()
}

/// Compares `most`, the largest value of each atom over all indices, with the upper bound that `Atoms`
/// computed. A digit must reach its bound. So must a quotient if, for each dimension in its sum, the ranges
/// of the digits multiply to the size, or the digits have their weights in one proportion.
fn check_values(atoms: &Atoms<'_>, most: &[i128], text: &str) {
    let of_dim = |dim| atoms.digits.iter().zip(0..).filter(move |(digit, _)| digit.dim == dim);
    let is_full = |dim: usize| of_dim(dim).map(|(digit, _)| digit.range).product::<u64>() == atoms.sizes[dim];
    let is_whole = |form: &Form, dim| {
        let scales = of_dim(dim).map(|(digit, place)| (of(form, place), i128::from(digit.weight)));
        let (weight, unit) = scales.clone().next().unwrap();
        scales.clone().all(|(own, digit)| own != 0 && own * unit == weight * digit)
    };
    for (place, (atom, (&bound, &most))) in atoms.atoms.iter().zip(atoms.most.iter().zip(most)).enumerate() {
        let is_exact = match atom {
            Atom::Digit(_) => true,
            Atom::Quotient(form, _) => form.terms().iter().all(|&(inner, _)| {
                atoms.digits.get(inner).is_some_and(|digit| is_full(digit.dim) || is_whole(form, digit.dim))
            }),
            Atom::Remainder(_, divisor) => {
                assert!(bound < *divisor, "{text}: a remainder of {divisor}");
                false
            }
        };
        assert!(most == bound || most < bound && !is_exact, "{text}: atom {place} reaches {most} of {bound}");
        assert!(most > 0 || !is_exact, "{text}: atom {place} is always 0");
    }
}

/// Checks that the lowest digit of a dimension has weight 1, that each digit begins where the digit below
/// ends, and that all digits together reach the size. Dimensions of size 1 have no digits.
fn check_digits(atoms: &Atoms<'_>, text: &str) {
    for (dim, &size) in atoms.sizes.iter().enumerate() {
        let mut weight = 1;
        for digit in atoms.digits.iter().filter(|digit| digit.dim == dim).rev() {
            assert!(digit.weight == weight && digit.range > 1, "{text}: digits of dimension {dim}");
            weight *= digit.range;
        }
        let top = atoms.digits.iter().find(|digit| digit.dim == dim).map_or(1, |digit| digit.weight);
        assert!(weight >= size && weight - size < top, "{text}: digits of dimension {dim}");
    }
}

/// Checks that no sum contains `divisor * quotient + remainder`, which should have become the number that was
/// divided.
fn check_joined(atoms: &Atoms<'_>, form: &Form, text: &str) {
    for (place, atom) in atoms.atoms.iter().enumerate() {
        let Atom::Quotient(_, divisor) = atom else { continue };
        let (high, low) = (of(form, place), of(form, place + 1));
        assert!(high == 0 || high != low * divisor, "{text}: a number that is in two parts");
    }
}

/// Checks that the sum inside every atom is simplified: no weight is a multiple of the divisor, the weights
/// and the divisor have no common factor, and no digit can be split into two digits so that the weight of the
/// upper one is a multiple of the divisor.
fn check_parts(atoms: &Atoms<'_>, text: &str) {
    for (place, atom) in atoms.atoms.iter().enumerate() {
        let Atom::Quotient(form, divisor) = atom else { continue };
        check_joined(atoms, form, text);
        assert!(atoms.atoms.get(place + 1) == Some(&Atom::Remainder(form.clone(), *divisor)), "{text}");
        let common = |divisor: i128| form.terms().iter().all(|(_, weight)| weight % divisor == 0);
        assert!(
            *divisor > 1 && !(2..=*divisor).any(|part| divisor % part == 0 && common(part)),
            "{text}: in lowest terms"
        );
        for &(inner, weight) in form.terms() {
            assert!(weight > 0 && weight % divisor != 0, "{text}: a multiple of {divisor} is inside");
            let Some(digit) = atoms.digits.get(inner) else { continue };
            let range = i128::from(digit.range);
            let is_top = !atoms.digits[..inner].iter().any(|above| above.dim == digit.dim);
            let cut = (2..range).find(|at| at * weight == *divisor && (is_top || range % at == 0));
            assert_eq!(cut, None, "{text}: a digit of {range} values, {weight} each, divided by {divisor}");
        }
    }
}

#[test]
fn the_sums_are_the_offsets_and_no_atom_is_larger_than_need_be() {
    for family in families() {
        let maps: Vec<IndexMap> = family.iter().map(|text| map(text)).collect();
        let (indices, offsets) = (indices(maps[0].sizes()), maps.iter().map(offsets).collect::<Vec<_>>());
        for (first, second) in
            (0..maps.len()).flat_map(|first| [1, 4].map(|apart| (first, (first + apart) % maps.len())))
        {
            let text = format!("{} {}", family[first], family[second]);
            let (atoms, a, b) = Atoms::of_pair(&maps[first], &maps[second]);
            let mut most = vec![0; atoms.atoms.len()];
            for (place, index) in indices.iter().enumerate() {
                let values = values(&atoms, index);
                assert_eq!(sum(&a, &values), offsets[first][place].into(), "{text}: the first at {index:?}");
                assert_eq!(sum(&b, &values), offsets[second][place].into(), "{text}: the second at {index:?}");
                most.iter_mut().zip(values).for_each(|(most, value)| *most = value.max(*most));
            }
            check_values(&atoms, &most, &text);
            check_digits(&atoms, &text);
            check_parts(&atoms, &text);
            [a, b].iter().for_each(|form| check_joined(&atoms, form, &text));
        }
    }
}

/// Both layouts join x below 2 and y below 3 to `3 * x + y`. One layout divides this number by 2, which needs
/// an atom. The other divides it by 3, which gives the digits x and y.
#[test]
fn atoms_of_large_layouts_hold_few_digits() {
    let (first, second) =
        (map("f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}"), map("f32[480,480,480]{2,1,0:T(2,3,2)(*,3,1)}"));
    let (atoms, ..) = Atoms::of_pair(&first, &second);
    let digits: Vec<_> = atoms.digits.iter().map(|digit| (digit.dim, digit.weight, digit.range)).collect();
    assert_eq!(digits, [(0, 2, 240), (0, 1, 2), (1, 3, 160), (1, 1, 3), (2, 2, 240), (2, 1, 2)]);
    let form = Form(vec![(1, 3), (3, 1)]);
    assert!(
        atoms.atoms[6..] == [Atom::Quotient(form.clone(), 2), Atom::Remainder(form, 2)],
        "dividing by 3 needs no atom"
    );
    assert_eq!(atoms.most[6..], [2, 1]);
}
