//! The languages that are highlighted, as a table: about seventy by the names of thirty-six families.
//!
//! What is not in it stays plain.

use super::grammar::{Grammar, Quote, Shape, Way};

const fn quote(open: &'static str, close: &'static str, escapes: bool, lines: bool) -> Quote {
    Quote { open, close, escapes, lines }
}

/// `"…"`
const DOUBLE: Quote = quote("\"", "\"", true, false);
/// `'…'`
const SINGLE: Quote = quote("'", "'", true, false);
/// `"…"` over lines.
const LONG: Quote = quote("\"", "\"", true, true);
/// `'…'` over lines, without escapes.
const RAW: Quote = quote("'", "'", false, true);
/// `` `…` `` over lines.
const BACK: Quote = quote("`", "`", true, true);
/// `"""…"""`
const TRIPLE: Quote = quote("\"\"\"", "\"\"\"", true, true);
/// `'''…'''`
const TRIPLE_SINGLE: Quote = quote("'''", "'''", true, true);

const SLASHES: &[&str] = &["//"];
const HASH: &[&str] = &["#"];
const STARS: Option<(&str, &str)> = Some(("/*", "*/"));

/// Everything empty: what an entry does not say.
const NONE: Grammar = Grammar {
    names: "",
    shape: Shape::Code,
    comment: &[],
    block: None,
    strings: &[],
    letters: "",
    keywords: "",
    constants: "",
    kinds: "",
    ways: &[],
};

/// The family of C.
const BRACES: Grammar =
    Grammar { comment: SLASHES, block: STARS, strings: &[DOUBLE, SINGLE], constants: "true false null", ..NONE };

/// The languages.
pub static GRAMMARS: [Grammar; 36] = [
    Grammar {
        names: "rust rs",
        strings: &[LONG],
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop macro_rules \
                   match mod move mut pub ref return self static struct super trait type unsafe use where while yield",
        constants: "true false",
        kinds: "Self bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
        ways: &[Way::Nested, Way::Rust, Way::Capitals],
        ..BRACES
    },
    Grammar {
        names: "javascript js jsx mjs cjs typescript ts tsx mts cts node deno",
        strings: &[BACK, DOUBLE, SINGLE],
        letters: "$",
        keywords: "abstract as asserts async await break case catch class const continue debugger declare default delete \
                   do else enum export extends finally for from function get if implements import in infer instanceof \
                   interface is keyof let namespace new of override private protected public readonly return satisfies \
                   set static super switch this throw try type typeof var void while with yield",
        constants: "true false null undefined NaN Infinity",
        kinds: "any bigint boolean never number object string symbol unknown",
        ways: &[Way::Patterns, Way::Marks, Way::Capitals],
        ..BRACES
    },
    Grammar {
        names: "python py pyi py3 python3 starlark bzl bazel",
        comment: HASH,
        strings: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keywords: "and as assert async await break case class continue def del elif else except finally for from global \
                   if import in is lambda match nonlocal not or pass raise return try while with yield",
        constants: "True False None self cls",
        kinds: "bool bytes dict float int list object set str tuple",
        ways: &[Way::Marks, Way::Capitals],
        ..NONE
    },
    Grammar {
        names: "bash sh shell zsh ksh fish bashrc zshrc profile env dotenv",
        comment: HASH,
        strings: &[LONG, RAW],
        letters: "-",
        keywords: "case do done elif else esac fi for function if in select then until while local export readonly \
                   declare typeset unset set shift return exit break continue trap source alias eval exec sudo",
        constants: "true false",
        ways: &[Way::Shell, Way::ApartComment],
        ..NONE
    },
    Grammar { names: "console shell-session shellsession terminal", shape: Shape::Console, ..NONE },
    Grammar { names: "diff patch udiff", shape: Shape::Diff, ..NONE },
    Grammar {
        names: "c h cpp cc cxx c++ hpp hh hxx h++ ino cu cuda objc objective-c objectivec m mm glsl hlsl wgsl metal",
        keywords: "alignas alignof asm auto break case catch class co_await co_return co_yield concept const consteval \
                   constexpr constinit const_cast continue decltype default delete do dynamic_cast else enum explicit \
                   export extern final for friend goto if inline mutable namespace new noexcept operator override \
                   private protected public register reinterpret_cast requires restrict return sizeof static \
                   static_assert static_cast struct switch template this thread_local throw try typedef typeid typename \
                   union using virtual volatile while",
        constants: "true false nullptr NULL nil YES NO",
        kinds: "bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t intptr_t long \
                ptrdiff_t short signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t uintptr_t unsigned void wchar_t",
        ways: &[Way::Marks],
        ..BRACES
    },
    Grammar {
        names: "go golang mod",
        strings: &[quote("`", "`", false, true), DOUBLE, SINGLE],
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map \
                   package range return select struct switch type var module require replace",
        constants: "true false nil iota",
        kinds: "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string \
                uint uint8 uint16 uint32 uint64 uintptr",
        ..BRACES
    },
    Grammar {
        names: "java kotlin kt kts scala sc groovy gradle",
        strings: &[TRIPLE, DOUBLE, SINGLE],
        keywords: "abstract actual as assert break by case catch class companion const continue data def default do else \
                   enum expect extends extension final finally for fun given goto if implements implicit import in \
                   infix inline inner instanceof interface internal is lateinit lazy match native new object of open \
                   operator out override package private protected public record reified return sealed static strictfp \
                   super suspend switch synchronized this throw throws trait transient try type using val var vararg \
                   volatile when where while with yield permits",
        kinds: "boolean byte char double float int long short void",
        ways: &[Way::Marks, Way::Capitals],
        ..BRACES
    },
    Grammar {
        names: "csharp cs c# csx fsharp fs f# fsx",
        strings: &[TRIPLE, quote("@\"", "\"", false, true), DOUBLE, SINGLE],
        keywords: "abstract as async await base break case catch checked class const continue default delegate do else \
                   enum event explicit extern finally fixed for foreach get goto if implicit in init interface internal \
                   is let lock match module mutable namespace new of open operator out override params partial private \
                   protected public readonly record ref required return sealed set sizeof stackalloc static struct \
                   switch then this throw try type typeof unchecked unsafe using var virtual volatile when where while \
                   with yield fun rec",
        kinds: "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong \
                ushort void unit",
        ways: &[Way::Marks, Way::Capitals],
        ..BRACES
    },
    Grammar {
        names: "swift dart",
        strings: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keywords: "actor any as associatedtype async await break case catch class const continue convenience covariant \
                   default defer deinit do dynamic else enum export extends extension external factory fallthrough false \
                   fileprivate final finally for func get guard hide if implements import in indirect init inout \
                   internal is late lazy let library mixin mutating new nonmutating on open operator override part \
                   private protocol public repeat required rethrow return self set show some static struct subscript \
                   super switch sync this throw throws try typealias typedef unowned var weak where while with yield",
        constants: "true false nil null",
        kinds: "bool double dynamic int num void",
        ways: &[Way::Nested, Way::Marks, Way::Capitals],
        ..BRACES
    },
    Grammar {
        names: "zig zon odin v vlang d",
        block: None,
        strings: &[quote("\\\\", "\n", false, false), DOUBLE, SINGLE],
        keywords: "addrspace align allowzero and anyframe asm async await break callconv catch comptime const continue \
                   defer else enum errdefer error export extern fn for foreach if import in inline linksection module \
                   nosuspend opaque or orelse packed proc pub resume return struct suspend switch test threadlocal try \
                   union unreachable usingnamespace var volatile when while",
        constants: "true false null undefined nil",
        kinds: "anyerror anyopaque anytype bool char comptime_float comptime_int f16 f32 f64 f128 i8 i16 i32 i64 i128 int \
                isize noreturn string type u8 u16 u32 u64 u128 usize void",
        ways: &[Way::Marks, Way::Capitals],
        ..BRACES
    },
    Grammar {
        names: "php",
        comment: &["//", "#"],
        strings: &[LONG, quote("'", "'", true, true)],
        keywords: "abstract and array as break case catch class clone const continue declare default do echo else elseif \
                   empty enum extends final finally fn for foreach function global if implements include include_once \
                   instanceof interface isset list match namespace new or print private protected public readonly require \
                   require_once return static switch throw trait try unset use var while xor yield",
        constants: "true false null TRUE FALSE NULL this self parent",
        kinds: "bool callable float int iterable mixed never object string void",
        ways: &[Way::Dollar, Way::Capitals],
        ..BRACES
    },
    Grammar {
        names: "ruby rb gemfile rakefile podfile vagrantfile crystal cr",
        comment: HASH,
        strings: &[LONG, SINGLE, BACK],
        letters: "?",
        keywords: "alias and begin break case class def defined? do else elsif end ensure extend for if in include loop \
                   module next not or private protected public raise redo require require_relative rescue retry return \
                   self super then undef unless until when while yield attr_accessor attr_reader attr_writer lambda proc",
        constants: "true false nil",
        ways: &[Way::Capitals, Way::Marks, Way::ApartComment],
        ..NONE
    },
    Grammar {
        names: "perl pl pm raku",
        comment: HASH,
        strings: &[LONG, quote("'", "'", true, true)],
        keywords: "and bless cmp die do each else elsif eq eval for foreach ge given gt if keys last le local lt my ne \
                   next no not or our package print push redo require return say shift sub unless until use values warn \
                   when while",
        constants: "undef",
        ways: &[Way::Dollar, Way::ApartComment],
        ..NONE
    },
    Grammar {
        names: "lua luau",
        comment: &["--"],
        block: Some(("--[[", "]]")),
        strings: &[quote("[[", "]]", false, true), DOUBLE, SINGLE],
        keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
        constants: "true false nil self",
        ..NONE
    },
    Grammar {
        names: "sql psql mysql postgresql postgres sqlite pgsql plsql tsql ddl",
        comment: &["--"],
        block: STARS,
        strings: &[quote("'", "'", false, true), quote("\"", "\"", false, false), quote("`", "`", false, false)],
        keywords: "add all alter analyze and any as asc begin between by cascade case cast check column commit constraint \
                   create cross database default delete desc distinct drop else end except exists explain foreign from \
                   full function grant group having if in index inner insert intersect into is join key left like limit \
                   natural not of offset on or order outer over partition primary procedure references replace returning \
                   returns revoke right rollback schema select sequence set table temporary then to transaction trigger \
                   truncate union unique update using values view when where window with",
        constants: "true false null",
        kinds: "bigint blob boolean bytea char date decimal double float int integer interval json jsonb numeric real \
                serial smallint text time timestamp timestamptz uuid varchar",
        ways: &[Way::AnyCase],
        ..NONE
    },
    Grammar {
        names: "haskell hs elm purescript purs agda idris",
        comment: &["--"],
        block: Some(("{-", "-}")),
        strings: &[DOUBLE],
        letters: "'",
        keywords: "as case class data default deriving do else exposing family forall foreign hiding if import in infix \
                   infixl infixr instance let mdo module newtype of port proc qualified rec then type where",
        constants: "True False",
        ways: &[Way::Nested, Way::Capitals],
        ..NONE
    },
    Grammar {
        names: "ocaml ml mli reason re sml coq",
        block: Some(("(*", "*)")),
        strings: &[LONG],
        letters: "'",
        keywords: "and as assert begin class constraint do done downto else end exception external for fun function functor \
                   if in include inherit initializer lazy let match method module mutable new nonrec object of open or \
                   private rec sig struct then to try type val virtual when while with",
        constants: "true false",
        kinds: "array bool bytes char exn float int list option string unit",
        ways: &[Way::Nested, Way::Capitals],
        ..NONE
    },
    Grammar {
        names: "elixir ex exs erlang erl hrl heex gleam",
        comment: &["#", "%", "//"],
        strings: &[TRIPLE, LONG, SINGLE],
        letters: "?!",
        keywords: "after alias and assert begin case catch cond const def defimpl defmacro defmacrop defmodule defp \
                   defprotocol defstruct do else end fn for if import in let not of opaque or pub quote raise receive \
                   require rescue super throw todo try type unless unquote use when with",
        constants: "true false nil",
        ways: &[Way::Marks, Way::Capitals, Way::ApartComment],
        ..NONE
    },
    Grammar {
        names: "lisp elisp el scheme scm racket rkt clojure clj cljs cljc edn fennel common-lisp",
        comment: &[";"],
        block: Some(("#|", "|#")),
        strings: &[LONG],
        letters: "-?!*+/<>=:",
        keywords: "and begin case cond def define define-syntax defmacro defmethod defn defn- defun defvar do else fn for \
                   if if-let import in-ns lambda let let* letfn letrec loop ns or progn provide quote recur require set! \
                   setf setq unless use when when-let while",
        constants: "t nil true false #t #f",
        ..NONE
    },
    Grammar {
        names: "r julia jl matlab octave",
        comment: &["#", "%"],
        strings: &[TRIPLE, LONG, SINGLE],
        letters: ".",
        keywords: "abstract baremodule begin break catch const do else elseif end export finally for function global if \
                   import in let library local macro module mutable next primitive quote repeat require return struct try \
                   type using where while",
        constants: "TRUE FALSE NULL NA NaN Inf true false nothing missing",
        ways: &[Way::ApartComment],
        ..NONE
    },
    Grammar {
        names: "powershell ps1 psm1 pwsh ps",
        comment: HASH,
        block: Some(("<#", "#>")),
        strings: &[quote("\"", "\"", false, true), RAW],
        letters: "-",
        keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for \
                   foreach function if in param process return switch throw trap try until using while",
        ways: &[Way::AnyCase, Way::Dollar],
        ..NONE
    },
    Grammar {
        names: "bat batch cmd dosbatch",
        comment: &["::", "rem ", "REM "],
        strings: &[DOUBLE],
        keywords: "call cd copy del do echo else endlocal exist exit for goto if in not pause set setlocal shift start",
        constants: "on off nul",
        ways: &[Way::AnyCase, Way::ApartComment, Way::Marks],
        ..NONE
    },
    Grammar {
        names: "dockerfile docker containerfile",
        comment: HASH,
        strings: &[DOUBLE, SINGLE],
        letters: "-",
        keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL \
                   STOPSIGNAL USER VOLUME WORKDIR",
        ways: &[Way::Dollar, Way::ApartComment],
        ..NONE
    },
    Grammar {
        names: "makefile make mk gnumakefile just justfile",
        shape: Shape::Keys,
        comment: HASH,
        strings: &[DOUBLE, SINGLE],
        letters: "-.",
        keywords: "include define endef ifeq ifneq ifdef ifndef else endif export unexport override set alias",
        ways: &[Way::Dollar, Way::ApartComment],
        ..NONE
    },
    Grammar {
        names: "cmake",
        comment: HASH,
        strings: &[LONG],
        keywords: "if elseif else endif foreach endforeach while endwhile function endfunction macro endmacro return set \
                   include option project",
        constants: "ON OFF TRUE FALSE PUBLIC PRIVATE INTERFACE REQUIRED",
        ways: &[Way::AnyCase, Way::Dollar],
        ..NONE
    },
    Grammar {
        names: "json jsonc json5 jsonl ndjson geojson ipynb webmanifest",
        shape: Shape::Keys,
        strings: &[DOUBLE],
        ..BRACES
    },
    Grammar {
        names: "yaml yml",
        shape: Shape::Keys,
        comment: HASH,
        strings: &[DOUBLE, quote("'", "'", false, false)],
        letters: "-./",
        constants: "true false null",
        ways: &[Way::ApartComment],
        ..NONE
    },
    Grammar {
        names: "toml ini cfg conf properties editorconfig gitconfig desktop service systemd lock",
        shape: Shape::Keys,
        comment: &["#", ";"],
        strings: &[TRIPLE, quote("'''", "'''", false, true), DOUBLE, quote("'", "'", false, false)],
        letters: "-.",
        constants: "true false",
        ways: &[Way::ApartComment, Way::Sections],
        ..NONE
    },
    Grammar {
        names: "hcl tf terraform tfvars nginx nix",
        comment: &["#", "//"],
        block: STARS,
        strings: &[quote("''", "''", false, true), LONG],
        letters: "-'",
        keywords: "assert data else for if in inherit let location locals module or output provider rec resource server \
                   terraform then upstream variable with",
        constants: "true false null",
        ways: &[Way::Dollar, Way::ApartComment],
        ..NONE
    },
    Grammar {
        names: "protobuf proto graphql gql thrift prisma solidity sol",
        comment: &["//", "#"],
        keywords: "address contract datasource emit enum event extend extends fragment function generator implements import \
                   input interface mapping message model modifier mutation on oneof option optional package payable \
                   pragma public private query repeated required returns return rpc scalar schema service struct \
                   subscription syntax type union view external internal memory storage require",
        kinds: "bool boolean bytes double fixed32 fixed64 float int32 int64 sint32 sint64 string uint32 uint64 uint256 \
                uint",
        ways: &[Way::Marks, Way::Capitals],
        ..BRACES
    },
    Grammar {
        names: "css scss sass less styl",
        letters: "-%",
        keywords: "important and not only from to",
        constants: "auto none inherit initial unset",
        ways: &[Way::Marks, Way::Dollar, Way::ApartComment],
        ..BRACES
    },
    Grammar {
        names: "html htm xml svg xhtml vue svelte astro xsl xsd plist rss jsp erb",
        shape: Shape::Markup,
        block: Some(("<!--", "-->")),
        strings: &[quote("\"", "\"", false, true), RAW],
        letters: "-:.",
        ..NONE
    },
    Grammar {
        names: "latex tex bib sty",
        comment: &["%"],
        keywords: "\\begin \\end \\documentclass \\usepackage \\section \\subsection \\newcommand \\def",
        letters: "\\",
        ..NONE
    },
    Grammar {
        names: "vim viml vimscript",
        comment: &["\" "],
        strings: &[quote("'", "'", false, false)],
        letters: ":",
        keywords: "call command else elseif endfor endfunction endif endwhile for function if let map nmap nnoremap noremap \
                   return set setlocal syntax try vmap while autocmd augroup inoremap vnoremap",
        ways: &[Way::ApartComment],
        ..NONE
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_name_stands_for_two_languages() {
        let mut seen = HashSet::new();
        for name in GRAMMARS.iter().flat_map(|grammar| grammar.names.split(' ')) {
            assert!(!name.is_empty() && name == name.to_lowercase() && seen.insert(name), "{name:?}");
        }
    }

    #[test]
    fn no_word_is_empty() {
        for grammar in &GRAMMARS {
            for words in [grammar.keywords, grammar.constants, grammar.kinds] {
                assert!(words.is_empty() || words.split(' ').all(|word| !word.is_empty()), "{words:?}");
            }
            for quote in grammar.strings {
                assert!(!quote.open.is_empty() && !quote.close.is_empty(), "{grammar:?}");
            }
        }
    }
}
