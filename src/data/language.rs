//! The languages of code blocks: one name for each, its aliases, and the extension of its files.
//!
//! Invariant: names and aliases are in lower case, and no alias is the name or an alias of another
//! language. `mdsel help data` lists the table.

/// A language: its name, the extension of its files, and its other names.
pub type Language = (&'static str, &'static str, &'static [&'static str]);

/// The languages with aliases or an extension other than their name, in the order of their names.
pub const LANGUAGES: &[Language] = &[
    ("asm", "s", &["assembly", "nasm", "x86asm"]),
    ("bash", "sh", &["sh", "shell", "zsh", "shellscript", "shell-script"]),
    ("batch", "bat", &["bat", "cmd", "dosbatch"]),
    ("c", "c", &["h"]),
    ("clojure", "clj", &["clj", "cljs", "cljc", "edn"]),
    ("cmake", "cmake", &["cmakelists"]),
    ("console", "txt", &["shell-session", "shellsession", "sh-session", "terminal"]),
    ("cpp", "cpp", &["c++", "cc", "cxx", "hpp", "hxx", "h++"]),
    ("csharp", "cs", &["c#", "cs"]),
    ("css", "css", &[]),
    ("dart", "dart", &[]),
    ("diff", "diff", &["patch", "udiff"]),
    ("dockerfile", "dockerfile", &["docker"]),
    ("elixir", "ex", &["ex", "exs"]),
    ("erlang", "erl", &["erl"]),
    ("fsharp", "fs", &["f#", "fs"]),
    ("go", "go", &["golang"]),
    ("graphql", "graphql", &["gql"]),
    ("groovy", "groovy", &["gradle"]),
    ("haskell", "hs", &["hs"]),
    ("hcl", "tf", &["terraform", "tf"]),
    ("html", "html", &["htm", "xhtml"]),
    ("ini", "ini", &["cfg", "conf", "dosini", "properties"]),
    ("java", "java", &[]),
    ("javascript", "js", &["js", "mjs", "cjs", "node"]),
    ("json", "json", &["json5", "jsonc"]),
    ("jsonl", "jsonl", &["ndjson"]),
    ("jsx", "jsx", &[]),
    ("julia", "jl", &["jl"]),
    ("kotlin", "kt", &["kt", "kts"]),
    ("latex", "tex", &["tex"]),
    ("lisp", "lisp", &["common-lisp", "cl", "elisp", "emacs-lisp"]),
    ("lua", "lua", &[]),
    ("makefile", "mk", &["make", "mk"]),
    ("markdown", "md", &["md", "mkd"]),
    ("mermaid", "mmd", &["mmd"]),
    ("nix", "nix", &[]),
    ("objectivec", "m", &["objc", "objective-c", "obj-c"]),
    ("ocaml", "ml", &["ml"]),
    ("perl", "pl", &["pl"]),
    ("php", "php", &[]),
    ("plaintext", "txt", &["text", "txt", "plain", "none"]),
    ("powershell", "ps1", &["ps", "ps1", "posh", "pwsh"]),
    ("protobuf", "proto", &["proto"]),
    ("python", "py", &["py", "py3", "python3", "pycon"]),
    ("r", "r", &["rlang"]),
    ("ruby", "rb", &["rb"]),
    ("rust", "rs", &["rs"]),
    ("scala", "scala", &["sc"]),
    ("scss", "scss", &["sass"]),
    ("solidity", "sol", &["sol"]),
    ("sql", "sql", &["mysql", "postgres", "postgresql", "sqlite", "tsql", "plsql"]),
    ("svelte", "svelte", &[]),
    ("swift", "swift", &[]),
    ("toml", "toml", &[]),
    ("tsx", "tsx", &[]),
    ("typescript", "ts", &["ts", "mts", "cts"]),
    ("vim", "vim", &["viml", "vimscript"]),
    ("vue", "vue", &[]),
    ("xml", "xml", &["svg", "xsd", "xsl", "xslt"]),
    ("yaml", "yaml", &["yml"]),
    ("zig", "zig", &[]),
];

/// The directives of `MyST` and Sphinx whose argument is a language.
const DIRECTIVES: [&str; 4] = ["code", "code-block", "code-cell", "sourcecode"];

/// Returns the language of an info string, and the rest of it. The first word is the language,
/// folded by [`LANGUAGES`]; braces, a leading dot and what follows a comma belong to the rest
/// (`{.rust .numberLines}`, `rust,ignore`). After a directive, it is the second word (`{code-block} rust`). If the
/// first word is an attribute or an identifier, the language is the first class in the braces
/// (`{#example .rust}`), and the rest is the whole text.
pub fn of(info: &str) -> (String, &str) {
    let info = info.trim();
    if let Some((name, argument)) = info.strip_prefix('{').and_then(|info| info.split_once('}'))
        && DIRECTIVES.contains(&name.trim())
    {
        return of(argument);
    }
    let is_braced = info.starts_with('{');
    let inner = info.trim_start_matches(['{', '.', ' ']);
    // `{=html}` is the format of a block that Pandoc copies.
    let inner = if is_braced { inner.trim_start_matches('=') } else { inner };
    let end = inner.find(|scalar: char| scalar.is_whitespace() || ",{}:".contains(scalar));
    let (word, rest) = inner.split_at(end.unwrap_or(inner.len()));
    let is_attribute = word.contains('=') || is_braced && word.starts_with('#');
    let rest = if is_attribute { inner } else { rest.trim_start_matches([',', '}', ':']).trim() };
    // The brace that closes the attributes of Pandoc is no part of them.
    let rest = if is_braced { rest.trim_end_matches(['}', ' ']) } else { rest };
    if is_attribute {
        let class = rest.split_whitespace().find_map(|word| word.strip_prefix('.'));
        return (folded(class.filter(|_| is_braced).unwrap_or_default()), rest);
    }
    (folded(word), rest)
}

/// Returns the name of the language called `word`.
pub fn folded(word: &str) -> String {
    let word = word.trim().to_lowercase();
    let found = LANGUAGES.iter().find(|(_, _, aliases)| aliases.contains(&word.as_str()));
    found.map_or(word, |&(name, _, _)| name.to_owned())
}

/// Returns the extension of the files of a language, without a dot.
pub fn extension(language: &str) -> &str {
    let found = LANGUAGES.iter().find(|(name, _, _)| *name == language);
    let is_plain = !language.is_empty()
        && language.len() <= 16
        && language.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match found {
        Some((_, extension, _)) => extension,
        None if is_plain => language,
        None => "txt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_the_first_word_of_the_info_string() {
        for (info, language, rest) in [
            ("rs", "rust", ""),
            ("Rust,ignore should_panic", "rust", "ignore should_panic"),
            ("{.python .numberLines}", "python", ".numberLines"),
            ("c++ title=\"a b\"", "cpp", "title=\"a b\""),
            ("js{1,3}", "javascript", "{1,3}"),
            ("{ .yaml .annotate }", "yaml", ".annotate"),
            ("{code-block} python", "python", ""),
            ("{code-cell} ipython3 x", "ipython3", "x"),
            ("{#example .haskell .numberLines}", "haskell", "#example .haskell .numberLines"),
            ("{start=\"2\" .rs}", "rust", "start=\"2\" .rs"),
            ("{=html}", "html", ""),
            ("title=\"a.py\" .x", "", "title=\"a.py\" .x"),
            ("sh", "bash", ""),
            ("Brainfuck", "brainfuck", ""),
            ("", "", ""),
        ] {
            assert_eq!(of(info), (language.to_owned(), rest), "{info}");
        }
        assert_eq!(extension("rust"), "rs");
        assert_eq!(extension("brainfuck"), "brainfuck");
        assert_eq!(extension("../../etc"), "txt");
        assert_eq!(extension(""), "txt");
    }

    #[test]
    fn names_and_aliases_are_unique_and_sorted() {
        assert!(LANGUAGES.is_sorted_by_key(|(name, _, _)| *name));
        let mut all: Vec<&str> = LANGUAGES
            .iter()
            .flat_map(|(name, _, aliases)| std::iter::once(name).chain(aliases.iter()))
            .copied()
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
