//! Text that the shim cannot express: threads run one after the other, so nothing in which they meet.

/// Identifiers that are refused. The runner plays the threads of a block one by one: shared memory, barriers and
/// exchange within a warp would silently mean something else. Clocks, PTX and tensor cores have no host form.
const REFUSED: [&str; 30] = [
    "__shared__",
    "__syncwarp",
    "__activemask",
    "__any_sync",
    "__all_sync",
    "__any",
    "__all",
    "__uni_sync",
    "__managed__",
    "__cluster_dims__",
    "__nanosleep",
    "__trap",
    "__brkpt",
    "__prof_trigger",
    "asm",
    "__asm",
    "__asm__",
    "clock64",
    "__globaltimer",
    "cooperative_groups",
    "nvcuda",
    "wmma",
    "cudaTextureObject_t",
    "cudaSurfaceObject_t",
    "cudaGridDependencySynchronize",
    "cudaTriggerProgrammaticLaunchCompletion",
    "__isShared",
    "__isGlobal",
    "__cvta_generic_to_shared",
    "__cvta_generic_to_global",
];

/// Beginnings of identifiers that are refused: each names a group of intrinsics.
const REFUSED_GROUPS: [&str; 14] = [
    "__syncthreads",
    "__shfl",
    "__ballot",
    "__match_",
    "__reduce_",
    "__pipeline_",
    "__mbarrier",
    "__mma",
    "__hmma",
    "__imma",
    "__bmma",
    "__dmma",
    "__wgmma",
    "__nvvm_",
];

/// Headers that stand for something that is refused.
const REFUSED_HEADERS: [&str; 4] = ["cooperative_groups", "mma", "cuda_pipeline", "cuda"];

/// The first refused identifier of a preprocessed text.
pub fn first_refused(text: &str) -> Option<&str> {
    identifiers(text).find(|identifier| {
        REFUSED.contains(identifier) || REFUSED_GROUPS.iter().any(|group| identifier.starts_with(group))
    })
}

/// The first refused header that a text includes: the host has none of them, so preprocessing ends there.
pub fn first_refused_header(text: &str) -> Option<&str> {
    let mut last = "";
    identifiers(text).find(|identifier| {
        std::mem::replace(&mut last, identifier) == "include" && REFUSED_HEADERS.contains(identifier)
    })
}

/// The identifiers of a C++ text, without those in comments, strings and characters.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while let Some(first) = rest.chars().next() {
            if first == '_' || first.is_ascii_alphabetic() {
                let (word, after) = rest.split_at(word_length(rest));
                // A prefix of a string literal: R"..." ends where its own delimiter says.
                rest = if after.starts_with('"') && matches!(word, "R" | "LR" | "uR" | "UR" | "u8R") {
                    &after[raw_string_length(after)..]
                } else {
                    after
                };
                return Some(word);
            }
            let skipped = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.find("*/").map_or(rest.len(), |end| end + 4)
            } else if first == '"' || first == '\'' {
                quoted_length(rest, first)
            } else if first.is_ascii_digit() {
                number_length(rest)
            } else {
                first.len_utf8()
            };
            rest = &rest[skipped..];
        }
        None
    })
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
        .unwrap_or(text.len())
}

/// A number with its suffix; an apostrophe between digits belongs to it.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|&byte| byte == b'_' || byte.is_ascii_alphanumeric())
    };
    let mut end = 1;
    while word(end) || (bytes.get(end) == Some(&b'\'') && word(end + 1)) {
        end += 1;
    }
    end
}

/// A literal in `quote`s. One that is not closed ends with its line: what follows is still looked at.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// `"delimiter( ... )delimiter"`, from the first quote on.
fn raw_string_length(text: &str) -> usize {
    let Some(open) = text.find('(') else { return 1 };
    let close = format!("){}\"", &text[1..open]);
    text[open..]
        .find(&close)
        .map_or(text.len(), |at| open + at + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_numbers_hold_no_identifiers() {
        let text = "a /* b\n c */ d // e\n \"f \\\" g\" 'h' 0x1'000ull u8R\"x(i \" )j)x\" k_1\u{e9}l";
        assert_eq!(
            identifiers(text).collect::<Vec<_>>(),
            ["a", "d", "u8R", "k_1", "l"]
        );
    }

    #[test]
    fn text_that_ends_in_the_middle_is_read_to_its_end() {
        for text in ["/*", "/* x", "\"x", "'", "R\"x", "R\"x(", "1'", "//", "a\"\\"] {
            assert_eq!(first_refused(text), None, "{text}");
        }
        assert_eq!(first_refused("'\n__shared__"), Some("__shared__"));
    }

    #[test]
    fn groups_are_refused_by_their_full_name() {
        assert_eq!(
            first_refused("x = __shfl_xor_sync(m, x, 1);"),
            Some("__shfl_xor_sync")
        );
        assert_eq!(first_refused("my__shfl = asm_ + clock;"), None);
    }

    #[test]
    fn only_an_included_header_is_one() {
        assert_eq!(
            first_refused_header("int mma; // include mma\n#include <mma.h>"),
            Some("mma")
        );
        assert_eq!(first_refused_header("int mma; #include <vector>"), None);
    }
}
