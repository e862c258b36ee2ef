//! What a table of the record is: a file name and described columns, stated once, on the row type.

use serde::{Serialize, de::DeserializeOwned};

/// One column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name in the header; the unit is part of it.
    pub name: &'static str,
    /// One line: what it holds, when it is empty, and how it is derived if it is.
    pub description: &'static str,
}

/// A row of one of the record's tables.
pub trait Row: Serialize + DeserializeOwned {
    /// The table's file name in the record; `.tsv` tables are separated by tabs, `.csv` tables by commas.
    const FILE: &'static str;
    /// What the table holds, in one line.
    const ABOUT: &'static str;
    /// The columns, in the order in which they are written.
    const COLUMNS: &'static [Column];
}

/// Declares a row type. Each field's doc comment is also its column's description, so the two cannot drift apart.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),+)])?
        pub struct $name:ident in $file:literal {
            $( $(#[doc = $doc:literal])+ pub $field:ident : $ty:ty, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize $($(, $derive)+)?)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $ty, )+
        }

        impl $crate::Row for $name {
            const FILE: &'static str = $file;
            const ABOUT: &'static str = concat!($($about),+).trim_ascii();
            const COLUMNS: &'static [$crate::Column] = &[
                $( $crate::Column { name: stringify!($field), description: concat!($($doc),+).trim_ascii() }, )+
            ];
        }
    };
}

pub(crate) use table;
