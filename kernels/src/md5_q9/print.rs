//! The print reading: straight-line CUDA text for the candidate's steps.

use std::fmt::Write as _;

use super::describe::{self, Group, Window, Words};
use super::machine::{Input, Layer, Machine, Phase, Rank, Role};
use super::mutate::{Mutant, Mutation};
use super::options::{FirstTest, Logic, One, Options, Walk};

/// The name of a word in the printed text: an index into [`Printer::names`].
#[derive(Debug, Clone, Copy)]
pub struct Name(usize);

/// A machine that writes what it is told instead of doing it.
struct Printer<'a> {
    options: Options,
    names: Vec<String>,
    text: String,
    inputs: &'a mut Vec<Input>,
    indent: &'static str,
    state: usize,
    /// Leaves layers out.
    silent: bool,
}

impl Printer<'_> {
    fn new(options: Options, inputs: &mut Vec<Input>) -> Printer<'_> {
        Printer {
            options,
            names: Vec::new(),
            text: String::new(),
            inputs,
            indent: "    ",
            state: 0,
            silent: false,
        }
    }

    fn named(&mut self, name: impl Into<String>) -> Name {
        self.names.push(name.into());
        Name(self.names.len() - 1)
    }

    fn define(&mut self, expression: &str) -> Name {
        let name = self.named(format!("t{}", self.names.len()));
        let _ = writeln!(
            self.text,
            "{}const u32 {} = {expression};",
            self.indent, self.names[name.0]
        );
        name
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", self.indent);
    }

    fn name(&self, name: Name) -> &str {
        &self.names[name.0]
    }

    /// The 1 by which an addition with this role is multiplied, if it goes on the FMA pipe.
    fn one(&self, role: Role) -> Option<&'static str> {
        self.options.adds.mad(role).map(|one| match one {
            One::Register => "run.one",
            One::Uniform => "run.uniform_one",
        })
    }
}

impl Machine for Printer<'_> {
    type Word = Name;

    fn add(&mut self, role: Role, a: Name, b: Name) -> Name {
        let (x, y) = (self.name(a), self.name(b));
        let expression = match self.one(role) {
            Some(one) => format!("mad1({x}, {one}, {y})"),
            None => format!("{x} + {y}"),
        };
        self.define(&expression)
    }

    fn sub(&mut self, role: Role, a: Name, b: Name) -> Name {
        let (x, y) = (self.name(a), self.name(b));
        let expression = match self.one(role) {
            Some("run.uniform_one") => format!("mad1({y}, run.uniform_minus_one, {x})"),
            Some(one) => format!("mad1({y}, 0u - {one}, {x})"),
            None => format!("{x} - {y}"),
        };
        self.define(&expression)
    }

    fn rotl<const N: u32>(&mut self, a: Name) -> Name {
        let a = self.name(a);
        self.define(&format!("({a} << {N}) | ({a} >> {})", 32 - N))
    }

    fn logic<const LUT: u8>(&mut self, a: Name, b: Name, c: Name) -> Name {
        let (a, b, c) = (self.name(a), self.name(b), self.name(c));
        let expression = match LUT {
            _ if self.options.logic == Logic::Lop3 => format!("lop3<0x{LUT:02x}u>({a}, {b}, {c})"),
            0xca => format!("({a} & {b}) | (~{a} & {c})"),
            0xe4 => format!("({a} & {c}) | ({b} & ~{c})"),
            0x96 => format!("{a} ^ {b} ^ {c}"),
            0x39 => format!("{b} ^ ({a} | ~{c})"),
            _ => minterms(LUT, a, b, c),
        };
        self.define(&expression)
    }

    fn input(&mut self, input: Input) -> Name {
        match (input.rank(), input) {
            (Rank::Immediate, Input::K(t)) => {
                let value = super::md5::K[t];
                self.named(format!("0x{value:08x}u"))
            }
            (Rank::Immediate, Input::KDifference(t, u)) => {
                let value = super::md5::K[t].wrapping_sub(super::md5::K[u]);
                self.named(format!("0x{value:08x}u"))
            }
            (Rank::Immediate, _) => self.named("0u"),
            (Rank::Base, _) => {
                if !self.inputs.contains(&input) {
                    self.inputs.push(input);
                }
                self.named(format!("base.{}", input.name()))
            }
        }
    }

    fn select(&mut self, state: usize) {
        self.state = state;
    }

    fn layer(&mut self, layer: Layer, word: Name) {
        if self.silent {
            return;
        }
        let line = format!(
            "LAYER({}, {}, {}); // {}",
            self.state,
            layer.index(),
            self.name(word),
            layer.name()
        );
        self.line(&line);
    }
}

/// A truth table as a disjunction of its minterms.
fn minterms(lut: u8, a: &str, b: &str, c: &str) -> String {
    let terms: Vec<String> = (0..8)
        .filter(|row| lut >> row & 1 == 1)
        .map(|row| {
            let take = |name: &str, bit: u32| format!("{}{name}", if row >> bit & 1 == 1 { "" } else { "~" });
            format!("({} & {} & {})", take(a, 2), take(b, 1), take(c, 0))
        })
        .collect();
    if terms.is_empty() {
        "0u".to_owned()
    } else {
        terms.join(" | ")
    }
}

/// The printed functions of a variant and the fields of its `Base` structure, in order.
#[derive(Debug, Clone)]
pub struct Printed {
    /// CUDA text: the structure and the functions.
    pub text: String,
    /// What each word of the structure holds.
    pub inputs: Vec<Input>,
}

/// Print the functions that `options` ask for, with one operation broken if `mutation` says so.
pub fn print(options: &Options, mutation: Option<Mutation>) -> Printed {
    let mut inputs = Vec::new();
    let mut functions = String::new();
    if options.walk == Walk::Orbit {
        functions += &group_function(options, mutation, &mut inputs);
    }
    functions += &candidates_function(options, mutation, 1, &mut inputs);
    if options.merged_tests.is_some() {
        functions += &passes_function(options, mutation, &mut inputs);
    }
    if options.interleave > 1 {
        functions += &candidates_function(options, mutation, options.interleave as usize, &mut inputs);
    }
    let fields: String = inputs
        .iter()
        .map(|input| format!("    u32 {};\n", input.name()))
        .collect();
    let held = match options.held_constants {
        true => held_function(&inputs),
        false => String::new(),
    };
    Printed {
        text: format!("struct Base {{\n{fields}}};\n\n{held}{functions}"),
        inputs,
    }
}

/// `held`: a base whose sums of K and a word the compiler does not read anew. `nought` is 0, see `launched` in the prelude.
fn held_function(inputs: &[Input]) -> String {
    let fields: Vec<String> = inputs
        .iter()
        .map(|input| match input {
            Input::Preadded(_) | Input::KC8(_) | Input::KC12(_) => format!("given.{} | nought", input.name()),
            _ => format!("given.{}", input.name()),
        })
        .collect();
    format!(
        "// The base with every K + m in a uniform register.\n\
         static __device__ __forceinline__ Base held(const Base &given, const u32 nought)\n\
         {{\n    const Base base = {{{}}};\n    return base;\n}}\n\n",
        fields.join(", ")
    )
}

/// `form_group`: what the members of an orbit's group share.
fn group_function(options: &Options, mutation: Option<Mutation>, inputs: &mut Vec<Input>) -> String {
    let mut m = Mutant::new(Printer::new(*options, inputs), mutation);
    m.phase(Phase::Group);
    let v = m.machine.named("v");
    let group = describe::group(&mut m, options, v);
    let mut printer = m.machine;
    let fields = group_fields(&group);
    for (field, name) in &fields {
        let line = format!("group.{field} = {};", printer.name(*name));
        printer.line(&line);
    }
    let declared: String = fields
        .iter()
        .map(|(field, _)| format!("    u32 {field};\n"))
        .collect();
    format!(
        "// What the members of a group share: {FORMULA_GROUP}\n\
         struct Group {{\n{declared}#ifdef ASSAY_TRACE\n    u32 row[ROW];\n#endif\n}};\n\n\
         static __device__ __forceinline__ void form_group(const Base &base, const Run &run, const u32 v, Group &group)\n\
         {{\n#ifdef ASSAY_TRACE\n    u32 *const row_0 = group.row;\n#endif\n{}}}\n\n",
        printer.text
    )
}

const FORMULA_GROUP: &str =
    "m9 and Q25..Q27, step 27 without rotr(z, 7), K + m + Q[t-3] of steps 28..30, K[44] + m9.";

/// Names of the fields of a group, with what they hold.
fn group_fields<W: Copy>(group: &Group<W>) -> Vec<(&'static str, W)> {
    let [q25, q26, q27] = group.q;
    let [c28, c29, c30] = group.c;
    vec![
        ("q25", q25),
        ("q26", q26),
        ("q27", q27),
        ("c27", group.c27),
        ("c28", c28),
        ("c29", c29),
        ("c30", c30),
        ("km9", group.km9),
    ]
}

/// The group that a function is handed.
fn given_group(printer: &mut Printer<'_>) -> Group<Name> {
    let mut field = |name: &str| printer.named(format!("group.{name}"));
    Group {
        q: [field("q25"), field("q26"), field("q27")],
        c27: field("c27"),
        c: [field("c28"), field("c29"), field("c30")],
        km9: field("km9"),
    }
}

/// `passes`: one orbit member up to the first test, and nothing of the hit path.
fn passes_function(options: &Options, mutation: Option<Mutation>, inputs: &mut Vec<Input>) -> String {
    let mut m = Mutant::new(Printer::new(*options, inputs), mutation);
    m.machine.silent = true;
    m.phase(Phase::Candidate);
    m.select(0);
    let group = given_group(&mut m.machine);
    let z = m.machine.named("z_0");
    let (window, words) = describe::member(&mut m, &group, z);
    let mut windows = [window];
    describe::all_but_last(&mut m, options, &mut windows, &[words]);
    let test = match options.test {
        FirstTest::Equal => {
            describe::last(&mut m, options, &mut windows, &[words]);
            format!("return PASSES({});", m.machine.name(windows[0].q0))
        }
        FirstTest::Mad => {
            let q60 = windows[0].q0;
            let x = describe::operand::<60, _>(&mut m, options, windows[0], &words);
            format!("return MAY_PASS({}, {});", m.machine.name(q60), m.machine.name(x))
        }
    };
    m.machine.line(&test);
    format!(
        "// One candidate, steps 27..60, and whether it passes the first test.\n\
         static __device__ __forceinline__ bool passes(const Base &base, const Run &run, const Group &group, const u32 z_0)\n\
         {{\n{}}}\n\n",
        m.machine.text
    )
}

/// `candidates_N`: `count` candidates through step 60, step by step together, the test, and the rest for hits.
fn candidates_function(
    options: &Options,
    mutation: Option<Mutation>,
    count: usize,
    inputs: &mut Vec<Input>,
) -> String {
    let mut m = Mutant::new(Printer::new(*options, inputs), mutation);
    m.phase(Phase::Candidate);
    let (mut windows, words): (Vec<Window<Name>>, Vec<Words<Name>>) = (0..count)
        .map(|i| {
            m.select(i);
            match options.walk {
                Walk::Tunnel => {
                    let q9 = m.machine.named(format!("q9_{i}"));
                    describe::tunnel_words(&mut m, q9)
                }
                Walk::Orbit => {
                    m.machine.line(&format!("COPY_GROUP_ROW({i});"));
                    let group = given_group(&mut m.machine);
                    let z = m.machine.named(format!("z_{i}"));
                    describe::member(&mut m, &group, z)
                }
            }
        })
        .unzip();
    if options.walk == Walk::Tunnel {
        describe::head(&mut m, options, &mut windows, &words);
    }
    describe::tail(&mut m, options, &mut windows, &words);
    for i in 0..count {
        m.select(i);
        let test = format!("if (PASSES({})) {{", m.machine.name(windows[i].q0));
        m.machine.line(&test);
        m.machine.indent = "        ";
        let digest = describe::digest(&mut m, options, windows[i], &words[i]);
        let printer = &mut m.machine;
        let [a, b, c, d] = digest.map(|word| printer.name(word).to_owned());
        let q9 = match options.walk {
            Walk::Tunnel => format!("q9_{i}"),
            Walk::Orbit => format!("z_{i} - 1u"),
        };
        printer.line(&format!("REPORT({i}, {q9}, {a}, {b}, {c}, {d});"));
        printer.indent = "    ";
        printer.line("}");
    }
    let (extra, of_each) = match options.walk {
        Walk::Tunnel => ("", "q9_"),
        Walk::Orbit => ("const Group &group, ", "z_"),
    };
    let each: Vec<String> = (0..count)
        .map(|i| format!("const u32 {of_each}{i} ROW_PARAMETER({i})"))
        .collect();
    format!(
        "// {count} candidate{}, steps {}..60 and the test; steps 61..63 for those that pass.\n\
         static __device__ __forceinline__ void candidates_{count}(const Base &base, const Run &run, {extra}{})\n{{\n{}}}\n\n",
        if count == 1 {
            ""
        } else {
            "s, step by step together"
        },
        match options.walk {
            Walk::Tunnel => 24,
            Walk::Orbit => 27,
        },
        each.join(", "),
        m.machine.text
    )
}
