//! `assay completions` and `assay man`: from the same source as `--help`.

use std::io::Write;

use clap::CommandFactory;

use crate::cli::Cli;

/// Print shell completions
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay completions bash > ~/.local/share/bash-completion/completions/assay
  assay completions zsh > ~/.zfunc/_assay")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Print the manual page, of the program or of one command
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  assay man | man -l -
  assay man validate > assay-validate.1")]
pub struct ManArgs {
    /// The command [default: the program itself]
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// Print completions.
///
/// # Errors
/// When stdout cannot be written.
pub fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    // The generator panics where it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "assay", &mut text);
    Ok(out.write_all(&text)?)
}

/// Print a manual page.
///
/// # Errors
/// When there is no such command, or stdout cannot be written.
pub fn man(args: &ManArgs, mut out: &mut dyn Write) -> anyhow::Result<()> {
    let mut program = Cli::command();
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => program
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| crate::exit::Usage(format!("there is no command `{name}`")))?,
    };
    Ok(clap_mangen::Man::new(page).render(&mut out)?)
}
