//! Knobs: the keys of a variant's file that a tuner may turn, and the file as a table in which it turns them.

use serde::Serialize;

use crate::family::VariantError;

/// The key of every variant's file that holds its one line.
const SUMMARY: &str = "summary";

/// A key of a variant's file with the values worth trying.
#[derive(Debug, Clone, PartialEq)]
pub struct Knob {
    /// The key with its tables, such as `launch.block`.
    pub key: &'static str,
    /// The values, in an order in which neighbours are alike. Some may be refused unless another knob is turned as well.
    pub values: Vec<toml::Value>,
    /// What it means to leave the key out.
    pub absent: Absent,
}

/// What a file without a knob's key means.
#[derive(Debug, Clone, PartialEq)]
pub enum Absent {
    /// Nothing that a tuner would choose.
    Untried,
    /// One of the values.
    Value(toml::Value),
    /// Something that none of the values says: worth trying as well.
    Choice,
}

impl Knob {
    /// The knob `key` with `values` as a variant's file writes them.
    pub fn of<T: Serialize>(key: &'static str, values: impl IntoIterator<Item = T>) -> Knob {
        let values = values.into_iter().map(toml::Value::try_from);
        Knob {
            key,
            // Numbers, words and flags are all values; what is none could not stand in a file.
            values: values.filter_map(Result::ok).collect(),
            absent: Absent::Untried,
        }
    }

    /// The same knob, whose first value is what a file without the key means.
    pub fn first_is_default(mut self) -> Knob {
        if let Some(first) = self.values.first() {
            self.absent = Absent::Value(first.clone());
        }
        self
    }

    /// The same knob, of which a file without the key is a choice of its own.
    pub fn or_absent(self) -> Knob {
        Knob {
            absent: Absent::Choice,
            ..self
        }
    }
}

/// A variant's file, to be changed key by key.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantText {
    table: toml::Table,
}

impl VariantText {
    /// Take a file apart. Whether it is a variant is for its family to say.
    ///
    /// # Errors
    /// When it is not TOML.
    pub fn parse(text: &str) -> Result<VariantText, VariantError> {
        let table = text
            .parse()
            .map_err(|error| VariantError::of_toml(&error, text))?;
        Ok(VariantText { table })
    }

    /// The value of a dotted key, if the file gives one.
    pub fn get(&self, key: &str) -> Option<&toml::Value> {
        let mut parts = key.split('.');
        let first = self.table.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    }

    /// Give a dotted key a value. Tables on the way are made where there are none.
    pub fn set(&mut self, key: &str, value: toml::Value) {
        let mut table = &mut self.table;
        let mut parts = key.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                table.insert(part.to_owned(), value);
                return;
            }
            let inner = table
                .entry(part)
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if !inner.is_table() {
                *inner = toml::Value::Table(toml::Table::new());
            }
            let toml::Value::Table(inner) = inner else { return };
            table = inner;
        }
    }

    /// Take a dotted key out, if it is there.
    pub fn remove(&mut self, key: &str) {
        let (path, last) = key.rsplit_once('.').unwrap_or(("", key));
        let mut parts = path.split('.').filter(|part| !part.is_empty());
        let table = parts.try_fold(&mut self.table, |table, part| table.get_mut(part)?.as_table_mut());
        if let Some(table) = table {
            table.remove(last);
        }
    }

    /// Give it another summary.
    pub fn set_summary(&mut self, summary: &str) {
        self.set(SUMMARY, toml::Value::from(summary));
    }

    /// The file's text.
    pub fn text(&self) -> String {
        self.table.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::families;

    const V5: &str = include_str!("../../variants/md5-q9/v5.toml");

    #[test]
    fn a_file_taken_apart_is_the_same_variant() {
        let text = VariantText::parse(V5).unwrap().text();
        let family = families()[0];
        let (before, after) = (
            family.variant("v5", V5).unwrap(),
            family.variant("v5", &text).unwrap(),
        );
        assert_eq!(before.options(), after.options());
        assert_eq!(before.summary(), after.summary());
    }

    #[test]
    fn keys_are_changed_where_they_are_and_made_where_they_are_not() {
        let mut text = VariantText::parse(V5).unwrap();
        assert_eq!(text.get("launch.block"), Some(&toml::Value::from(256)));
        assert_eq!(text.get("cpu.states"), None);
        text.set("launch.block", 128.into());
        text.set("options.adds.word", "mad".into());
        text.set("cpu.states", 1.into());
        text.set_summary("another one");
        let variant = families()[0].variant("x", &text.text()).unwrap();
        let options = variant.options();
        for (key, value) in [("launch.block", "128"), ("adds.word", "mad"), ("cpu.states", "1")] {
            assert!(options.contains(&(key, value.to_owned())), "{options:?}");
        }
        assert_eq!(variant.summary(), "another one");
        for key in ["cpu.states", "summary", "no.such.key", "launch.block.x"] {
            text.remove(key);
            assert_eq!(text.get(key), None);
        }
        assert_eq!(text.get("launch.block"), Some(&toml::Value::from(128)));
    }

    #[test]
    fn what_is_no_toml_is_refused_by_its_line() {
        let error = VariantText::parse("summary = 'x'\n[launch").unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
