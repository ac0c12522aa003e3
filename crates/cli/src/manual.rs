//! `completions` and `man`: print the completions of a shell, and pages for `man`.

use clap::Args;
use clap_complete::Shell;

use crate::output::{Output, Stop, Verdict};

#[derive(Args)]
pub(crate) struct Completions {
    /// bash, elvish, fish, powershell or zsh. For bash: source <(tensor-layout completions bash)
    #[arg(value_name = "SHELL", ignore_case = true, hide_possible_values = true)]
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct Man {
    /// The command; without it, the page of the program. To read it: tensor-layout man describe | man -l -
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(crate) fn completions(
    arguments: &Completions,
    mut program: clap::Command,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let mut text = Vec::new();
    let name = program.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut program, name, &mut text);
    output.bytes(&text).map(|()| Verdict::Well)
}

pub(crate) fn man(arguments: &Man, mut program: clap::Command, output: &mut Output<'_>) -> Result<Verdict, Stop> {
    program.build();
    let page = match &arguments.command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => return Err(Stop::Unusable(format!("there is no command `{name}`"))),
        },
    };
    let mut text = Vec::new();
    // Writing to a `Vec` never fails.
    let _ = clap_mangen::Man::new(page).render(&mut text);
    output.bytes(&text).map(|()| Verdict::Well)
}
