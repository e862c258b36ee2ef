//! From selectors to variants: finding the variant files and reading them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use anyhow::Context;
use assay_analysis::natural_key;
use assay_kernels::family::{Family, SIZE_KEY, Variant, VariantError, families, family, name_and_size};

use crate::exit::Usage;

/// A selected variant.
#[derive(Clone)]
pub struct Selected {
    /// Its family.
    pub family: &'static dyn Family,
    /// The variant itself.
    pub variant: Arc<dyn Variant>,
}

impl Selected {
    /// `FAMILY/NAME`.
    pub fn label(&self) -> String {
        format!("{}/{}", self.family.name(), self.variant.name())
    }
}

/// One of each variant file, that of the largest size: sizes of a variant share its text, and are proved once.
pub fn of_each_file(selected: &[Selected]) -> Vec<Selected> {
    let mut distinct: Vec<Selected> = Vec::new();
    let split = |one: &Selected| {
        let (file, size) = name_and_size(one.variant.name());
        let size: u64 = size.and_then(|size| size.parse().ok()).unwrap_or(0);
        ((one.family.name(), file.to_owned()), size)
    };
    for one in selected {
        let (file, size) = split(one);
        match distinct.iter_mut().find(|known| split(known).0 == file) {
            Some(known) if split(known).1 < size => *known = one.clone(),
            Some(_) => {}
            None => distinct.push(one.clone()),
        }
    }
    distinct
}

/// The folder of variant files.
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// The folder named by the flag, else by `ASSAY_VARIANTS`, else the nearest `variants/` above the working
    /// directory or above the program.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(flag: Option<&Path>) -> anyhow::Result<Shelf> {
        let named = flag
            .map(Path::to_path_buf)
            .or_else(|| env::var_os("ASSAY_VARIANTS").map(PathBuf::from));
        if let Some(folder) = named {
            if folder.is_dir() {
                return Ok(Shelf { folder });
            }
            return Err(Usage(format!("{} is not a folder of variants", folder.display())).into());
        }
        let starts = [env::current_dir().ok(), env::current_exe().ok()];
        let above = starts
            .iter()
            .flatten()
            .flat_map(|start| start.ancestors().map(|above| above.join("variants")));
        above
            .into_iter()
            .find(|folder| {
                families()
                    .iter()
                    .any(|family| folder.join(family.name()).is_dir())
            })
            .map(|folder| Shelf { folder })
            .ok_or_else(|| {
                Usage(
                    "no folder variants/ above the working directory or the program: use --variants"
                        .to_owned(),
                )
                .into()
            })
    }

    /// The folder of committed records beside the variants.
    pub fn results(&self) -> PathBuf {
        self.folder.with_file_name("results")
    }

    /// Names of a family's variants, in natural order.
    fn names(&self, family: &dyn Family) -> anyhow::Result<Vec<String>> {
        let folder = self.folder.join(family.name());
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let entries =
            fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?;
        let mut names = Vec::new();
        for entry in entries {
            let path = entry
                .with_context(|| format!("{} cannot be read", folder.display()))?
                .path();
            if path.extension().is_some_and(|extension| extension == "toml")
                && let Some(name) = path.file_stem().and_then(|name| name.to_str())
            {
                names.push(name.to_owned());
            }
        }
        names.sort_by_key(|name| natural_key(name));
        Ok(names)
    }

    /// The file of a variant, whatever its size.
    fn path(&self, family: &dyn Family, name: &str) -> PathBuf {
        let (name, _) = name_and_size(name);
        self.folder.join(family.name()).join(format!("{name}.toml"))
    }

    /// Whether there is a file of that variant.
    pub fn holds(&self, family: &dyn Family, name: &str) -> bool {
        self.path(family, name).exists()
    }

    /// The text of a selected variant's file.
    ///
    /// # Errors
    /// When it cannot be read any more.
    pub fn text(&self, selected: &Selected) -> anyhow::Result<String> {
        let path = self.path(selected.family, selected.variant.name());
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    }

    /// Read one variant.
    fn read(&self, family: &'static dyn Family, name: &str) -> anyhow::Result<Selected> {
        if let ((plain, Some(_)), None) = (name_and_size(name), family.size()) {
            let why = format!("{0}/{name}: {0} has no sizes, write {0}/{plain}", family.name());
            return Err(Usage(why).into());
        }
        let path = self.path(family, name);
        let text = fs::read_to_string(&path).map_err(|error| {
            let known = self.names(family).unwrap_or_default().join(", ");
            let named = family.name();
            Usage(match error.kind() {
                std::io::ErrorKind::NotFound => {
                    format!(
                        "{named}/{name}: there is no {}; {named} has {known}",
                        path.display()
                    )
                }
                _ => format!("{}: {error}", path.display()),
            })
        })?;
        let variant = family.variant(name, &text).map_err(|error| match error {
            // It is not in the file.
            VariantError::Value { key: SIZE_KEY, what } => Usage(format!("{}/{name}: {what}", family.name())),
            error => Usage(format!("{}: {error}", path.display())),
        })?;
        Ok(Selected { family, variant })
    }

    /// Every variant of a family.
    fn all_of(&self, family: &'static dyn Family) -> anyhow::Result<Vec<Selected>> {
        self.names(family)?
            .iter()
            .map(|name| self.read(family, name))
            .collect()
    }

    /// The variants that `selectors` name: a family, `FAMILY/NAME`, or a name that only one family has, each name with
    /// `@SIZE` behind it where the family has sizes; all of
    /// them when there are no selectors. No variant comes twice.
    ///
    /// # Errors
    /// Names the selector that fits nothing, or the file that is no variant.
    pub fn select(&self, selectors: &[String]) -> anyhow::Result<Vec<Selected>> {
        let mut selected: Vec<Selected> = Vec::new();
        if selectors.is_empty() {
            for family in families() {
                selected.extend(self.all_of(*family)?);
            }
        }
        for selector in selectors {
            for found in self.one(selector)? {
                if selected.iter().all(|known| known.label() != found.label()) {
                    selected.push(found);
                }
            }
        }
        if selected.is_empty() {
            return Err(Usage(format!("{} holds no variants", self.folder.display())).into());
        }
        Ok(selected)
    }

    fn one(&self, selector: &str) -> anyhow::Result<Vec<Selected>> {
        if let Some((family_name, name)) = selector.split_once('/') {
            let family = family(family_name).ok_or_else(|| unknown_family(family_name))?;
            check_name(selector, name)?;
            return Ok(vec![self.read(family, name)?]);
        }
        if let Some(family) = family(selector) {
            return self.all_of(family);
        }
        check_name(selector, selector)?;
        let mut holders = Vec::new();
        for family in families() {
            if self
                .names(*family)?
                .iter()
                .any(|name| name == name_and_size(selector).0)
            {
                holders.push(*family);
            }
        }
        match holders[..] {
            [family] => Ok(vec![self.read(family, selector)?]),
            [] => Err(unknown_family(selector).into()),
            _ => Err(Usage(format!(
                "`{selector}` is a variant of several families: write FAMILY/{selector}"
            ))
            .into()),
        }
    }
}

/// A name is a file's stem, never a path.
fn check_name(selector: &str, name: &str) -> Result<(), Usage> {
    let (name, size) = name_and_size(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // One way to write a size, so that no variant has two names.
    let number = |size: &str| size.bytes().all(|byte| byte.is_ascii_digit()) && !size.starts_with('0');
    if size.is_some_and(|size| size.is_empty() || !number(size)) {
        return Err(Usage(format!(
            "`{selector}` names no size: use FAMILY/NAME@NUMBER"
        )));
    }
    if name.is_empty() || !name.chars().all(plain) || name.starts_with('.') {
        return Err(Usage(format!(
            "`{selector}` names no variant: use FAMILY, FAMILY/NAME or NAME"
        )));
    }
    Ok(())
}

fn unknown_family(name: &str) -> Usage {
    let known: Vec<&str> = families().iter().map(|family| family.name()).collect();
    Usage(format!(
        "`{name}` is neither a family nor a variant; families: {}",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_a_variant_are_proved_once_at_the_largest() {
        let family = family("crt-gemm").unwrap();
        let text =
            "summary = \"x\"\n[options]\nscheme = \"native\"\nkernel = \"cublas\"\n[trial]\nedge = 64\n";
        let one = |name| Selected {
            family,
            variant: family.variant(name, text).unwrap(),
        };
        let selected = ["b@512", "a@128", "a", "b", "a@1024", "a@256"].map(one);
        let labels: Vec<String> = of_each_file(&selected).iter().map(Selected::label).collect();
        assert_eq!(labels, ["crt-gemm/b@512", "crt-gemm/a@1024"]);
    }

    #[test]
    fn a_name_is_no_path() {
        for bad in ["", "..", "../v0", "a/b", ".hidden", "v 0"] {
            assert!(check_name("x", bad).is_err(), "{bad:?}");
        }
        for bad in ["v4@", "v4@x", "v4@512@aa", "v4@-1", "v4@0512", "v4@0", "@512"] {
            assert!(check_name("x", bad).is_err(), "{bad:?}");
        }
        assert!(check_name("x", "v4-b128_2").is_ok() && check_name("x", "v4@512").is_ok());
    }
}
