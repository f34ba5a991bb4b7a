import { expect } from 'chai';
import { SpiffProblem } from '../../../../src/templating/spiff/problem.ts';
import { answerTo, valueOf } from './given.ts';

type Rows = readonly (readonly [expression: string, value: unknown])[];

const groups: Readonly<Record<string, Rows>> = {
  'finds values': [
    ['imports.name', 'web'],
    ['imports.l.[0]', 'one'],
    ['imports.l[1]', 'two'],
    ['imports.l.[-1]', 'two'],
    ['imports.objs.q.v', 'y'],
    ['imports.objs.[*].v', ['x', 'y']],
    ['imports.m.[*]', [1, 2]],
    ['imports.nums.[1..2]', [2, 3]],
    ['imports.nums.[-2..]', [2, 3]],
    ['imports.nums.[..1]', [1, 2]],
    ['imports.m.["a"]', 1],
    ['imports.["m", "a"]', 1],
    ['[1, [2, 3]].[1].[0]', 2],
    ['{ "x" = [5] }.x.[0]', 5],
    ['___.imports.name', 'web'],
    ['__ctx.PATH', ['r']],
    ['imports.uni', 'Grüße, 世界 🌍'],
  ],
  'concatenates adjacent values': [
    ['imports.name "-" "x"', 'web-x'],
    ['"n" 5', 'n5'],
    ['5 -2', '5-2'],
    ['"b" true', 'btrue'],
    ['imports.l [ "three" ]', ['one', 'two', 'three']],
    ['imports.l "three"', ['one', 'two', 'three']],
    ['imports.m { "b" = "z" }', { a: 1, b: 'z' }],
    ['imports.m ~', { a: 1, b: 2 }],
    ['"Grüße 🌍 " imports.name', 'Grüße 🌍 web'],
  ],
  'falls back': [
    ['imports.nope || "d"', 'd'],
    ['imports.nul || "d"', null],
    ['imports.nul // "d"', 'd'],
    ['imports.e // "d"', ''],
    ['imports.nope || ~~', undefined],
    ['imports.nope || imports.nada || imports.name', 'web'],
    ['refused() || 1', 1],
    ['require(imports.nul) || "required"', 'required'],
  ],
  'computes with integers of 64 bits, which wrap': [
    ['9223372036854775807 + 1 < 0', true],
    ['9223372036854775807 + 1 == 0 - 9223372036854775807 - 1', true],
    ['0 - 9223372036854775807 - 2 == 9223372036854775807', true],
    ['9223372036854775807 * 2 == 0 - 2', true],
    ['( 0 - 9223372036854775807 - 1 ) / ( 0 - 1 ) < 0', true],
  ],
  'compares and decides': [
    ['imports.num == 3', false],
    ['integer(imports.num) == 3', true],
    ['imports.num == imports.num', false],
    ['imports.name == "web" ? "yes!" :"no"', 'yes!'],
    ['"1" == 1', true],
    ['[1, "2"] == [1, 2]', true],
    ['imports.l == ["one", "two"]', true],
    ['imports.nul == ~', true],
    ['1 < 2', true],
    ['"b" > "a"', true],
    ['imports.num < 5', false],
    ['[] ? 1 :2', 2],
    ['0 ? 1 :2', 2],
    ['!imports.e', true],
    ['true -and nope || "failed"', 'failed'],
    ['true -or nope', true],
    ['true -or 1 < ~~', true],
    ['5 -and 6', 4],
  ],
  'compares for equality like the original': [
    ['contains(["lambda|x|->x"], lambda|x|->x)', true],
    ['contains([lambda|x|->x], lambda|x|->x)', true],
    ['5 == "005"', true],
    ['contains([5], "+5")', true],
    ['uniq([5, "005"])', [5, '005']],
    ['5 == "99999999999999999999"', false],
    ['contains([true], "TRUE")', true],
    ['uniq([1.5, 1.5])', [1.5, 1.5]],
  ],
  computes: [
    ['1 + 2 * 3', 7],
    ['7 / 2', 3],
    ['7.0 / 2', 3.5],
    ['imports.f * 3', 0.30000000000000004],
    ['7 % 3', 1],
    ['"10.0.0.1" + 257', '10.0.1.2'],
    ['10.0.0.1 - 1', '10.0.0.0'],
    ['"10.0.0.9" - "10.0.0.1"', 8],
    ['"10.0.0.0/24" * 2', '10.0.2.0/24'],
    ['"10.0.0.0/24" / 4', '10.0.0.0/26'],
    ['"::1" + 1', '::2'],
    ['"2001:db8::ffff" + 1', '2001:db8::1:0'],
    ['[3 .. 1]', [3, 2, 1]],
    ['12345678901', 12345678901],
    ['-5 + 2', -3],
    ['imports.nul % 5', 0],
    ['[~ .. 2]', [0, 1, 2]],
  ],
  'computes with addresses as the original does': [
    ['"::ffff:1.2.3.4" + 1', '1.2.3.5'],
    ['"255.255.255.255" + 1', '::1:0:0:0'],
    ['"0.0.0.0" - 1', '::fffe:ffff:ffff'],
    ['"::1" - "10.0.0.1"', -281470849515520],
    ['"10.0.0.1" - "::1"', 281470849515520],
    ['catch("255.255.255.255/24" + 1).error', 'resulting ip address not in CIDR range'],
    ['"::ffff:1.2.3.4/120" + 1', '1.2.3.5/24'],
    ['catch("::ffff:1.2.3.4/64" + 1).error', 'resulting ip address not in CIDR range'],
    ['"10.0.0.5/0024" + 1', '10.0.0.6/24'],
    ['"255.255.255.0/24" * 1', '0.0.0.0/24'],
    ['"2001:db8::/20" / 3', '2001::/22'],
    ['"::" - 1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['"1:0:0:2:0:0:0:3" + 1', '1:0:0:2::4'],
    ['"0:0:1:2:3:4:5:6" + 1', '::1:2:3:4:5:7'],
    ['contains_ip("::/0", "10.0.0.1")', false],
    ['contains_ip("::ffff:1.2.3.0/120", "1.2.3.4")', true],
    ['check("10.0.0.1/0024", "cidr")', true],
    ['check("10.0.0.1/", "cidr")', false],
    ['check("10.0.0.1/+8", "cidr")', false],
    ['check("fe80::1%eth0", "ip")', false],
    ['check("::ffff:1.2.3.4/120", "cidr")', true],
    ['"10.0.0.0/8" / 5', '10.0.0.0/11'],
  ],
  'iterates over lists and maps': [
    ['map[imports.l|x|->{"name" = x}]', [{ name: 'one' }, { name: 'two' }]],
    ['map[imports.l|i,x|->i ":" x]', ['0:one', '1:two']],
    ['map[imports.l|x|->x == "one" ? ~ :x]', ['two']],
    ['map{imports.m|k,x|->k "!"}', { a: 'a!', b: 'b!' }],
    ['map{imports.l|x|->x "!"}', { one: 'one!', two: 'two!' }],
    ['select[imports.nums|x|->integer(x) > 1]', [2, 3]],
    ['select{imports.m|k,x|->k == "a"}', { a: 1 }],
    ['map[imports.m|k,x|->k]', ['a', 'b']],
    ['map[{ "b" = 1, "a" = 2 }|x|->x]', [2, 1]],
    ['map{imports.m|k,x|->k == "a" ? ~ :x}', { b: 2 }],
    ['select[imports.m|k,x|->k == "b"]', [2]],
    ['select{imports.m|x|->false}', {}],
    ['sum[imports.l|""|s,i,x|->s i x]', '0one1two'],
    ['sum[imports.nums|0|s,x|->s + integer(x)]', 6],
    [
      'sum[imports.m|[]|s,k,v|->s [{"key" = k, "value" = v}]]',
      [
        { key: 'a', value: 1 },
        { key: 'b', value: 2 },
      ],
    ],
  ],
  'calls lambdas': [
    ['(|x,y|->x y)("a", "b")', 'ab'],
    ['(|x,y="d"|->x y)("a")', 'ad'],
    ['(|x,rest...|->length(rest))(1, 2, 3)', 2],
    ['(|x,y|->x y)(y="B", x="A")', 'AB'],
    ['(|x|->|y|->x y)("a")("b")', 'ab'],
    ['(|x,y|->x y)("a")("b")', 'ab'],
    ['(|x,y|->x y)([1, 2]...)', '12'],
    ['( $a = 25 ) a + 1', 26],
    ['(lambda "|x|->x x")("q")', 'qq'],
    ['applied(|x|->x "!", "v")', 'v!'],
    ['(|x|->"k")(~~)', undefined],
    ['format("%v", imports.nope || ~~)', undefined],
    ['length([1, ~~]) || 5', 5],
    ['lambda |x|->x + 1', '(( lambda|x|->x + 1 ))'],
  ],
  'tests whether a value can be evaluated': [
    ['[ defined(imports.name), defined(imports.nope), defined(imports.nul) ]', [true, false, true]],
    ['[ valid(imports.name), valid(imports.nope), valid(imports.nul) ]', [true, false, false]],
    ['catch(imports.nope)', { error: "'imports.nope' not found", valid: false }],
    ['catch(imports.name)', { error: '', valid: true, value: 'web' }],
    ['catch[imports.nope|v,e|->e]', "'imports.nope' not found"],
    ['sync[imports.name|v|->defined(v),v "!"]', 'web!'],
    ['eval("imports." "name")', 'web'],
    ['catch(error("stop here"))', { error: 'stop here', valid: false }],
  ],
  validates: [
    ['validate("10.0.0.1", "ip")', '10.0.0.1'],
    ['catch(validate("x", "ip"))', { error: 'condition 1 failed: is no ip address: x', valid: false }],
    ['check(5, ["gt", 3])', true],
    ['check("x", ["or", "ip", ["=", "x"]])', true],
    ['check("x", "!ip")', true],
    ['check([1, 2], ["list", ["type", "int"]])', true],
    ['check({"a" = 1}, ["mapfield", "b"])', false],
    ['check("a.b", "dnsdomain")', true],
    [
      'catch(check("x", ["match", "("])).error',
      'condition 1 has problem: regexp (: error parsing regexp: missing closing ): `(`',
    ],
    [
      'catch(check("x", ["~=", "a**"])).error',
      'condition 1 has problem: regexp a**: error parsing regexp: invalid nested repetition operator: `**`',
    ],
    ['check("5", ["match", "^[0-9]$"])', true],
    [
      'catch(validate("x", |v|->[v == "y", "good", "bad"]))',
      { error: 'condition 1 failed: bad', valid: false },
    ],
  ],
  'merges on demand': [
    ['merge({"a" = 1, "n" = {"x" = 1}}, {"a" = 3, "b" = 2, "n" = {"y" = 2}})', { a: 3, n: { x: 1 } }],
    ['merge([{"a" = 1}, {"a" = 2}])', { a: 2 }],
  ],
};

describe('a Spiff expression', () => {
  for (const [title, rows] of Object.entries(groups)) {
    describe(title, () => {
      for (const [expression, value] of rows) {
        it(`(( ${expression} ))`, () => expect(answerTo(expression)).to.deep.equal(value));
      }
    });
  }

  it('becomes a string: others keep their type, and escaped ones become strings', () => {
    const texts = {
      a: 'pre (( imports.name ))',
      b: '((! x ))',
      c: '(( imports.name )) x',
      d: '((imports.name))',
    };
    expect(valueOf(texts)).to.deep.equal({ ...texts, b: '(( x ))', d: 'web' });
  });

  it('fails instead of waiting on the left of //, so that || uses its right side in the first round', () => {
    expect(valueOf({ r: '(( (s "x" // "d") || "e" ))', s: '(( t ))', t: 1 })).to.include({ r: 'e' });
  });

  it('may catch an error in a nested expression, where the original never ends', () => {
    expect(answerTo('catch(nope) -or false')).to.equal(true);
    expect(answerTo('merge(imports.m, { "a" = catch(5) }).a.value')).to.equal(5);
  });

  it('may be the result of another one', () => {
    expect(valueOf({ a: '(( "(( b ))" ))', b: 3 })).to.deep.equal({ a: 3, b: 3 });
  });

  it('may start with a keyword of the language', () => {
    expect(
      valueOf({ a: '(( trueish ))', trueish: 1, b: '(( autoscaling.min ))', autoscaling: { min: 2 } }),
    ).to.include({
      a: 1,
      b: 2,
    });
  });
});

describe('an expression that cannot be evaluated', () => {
  const failure = (document: unknown): string => {
    try {
      valueOf(document);
    } catch (error) {
      if (error instanceof SpiffProblem) return error.message;
      throw error;
    }
    return 'no failure';
  };
  const one = (expression: string, why: string): string =>
    `unresolved nodes:\n\t(( ${expression} ))\tin template\tr\t()\t${why}`;

  const rows: readonly (readonly [title: string, expression: string, why: string])[] = [
    [
      'DF-131: a double concatenated with a string',
      '"n" imports.num',
      `*type 'float'(imports.num) cannot be concatenated with type 'string'("n")`,
    ],
    ['a missing name', 'imports.nope', "*'imports.nope' not found"],
    ['an index beyond the list', 'imports.l.[7]', "*'imports.l.[7]' not found"],
    ['an unknown function', 'nope(1)', "*unknown function 'nope'"],
    ['DF-142: a process', 'exec("id")', '*exec: no OS operations supported in this execution environment'],
    ['the environment', 'env("PATH")', "*unknown function 'env'"],
    ['division by zero', '1 / 0', '*division by zero'],
    ['a remainder of zero', '1 % 0', '*division by zero'],
    ['a division of a list', '[1] / 0', '*non-CIDR division requires number arguments'],
    ['a loop over a string', 'map[imports.name|x|->x]', '*map[] does not support string values'],
    ['a selection from a list as a map', 'select{imports.l|x|->x}', '*select{} does not support list values'],
    ['a key that is not a string', 'map{[5]|x|->x}', '*list element must be string, but found int'],
    ['a sum of a string', 'sum[imports.name|0|s,x|->s]', '*map or list required for sum'],
    ['a loop without parameter', 'map[imports.l||->1]', '*mapping expression takes a minimum of 1 argument'],
    ['a loop with three', 'map[imports.l|a,b,c|->1]', '*mapping expression takes a maximum of 2 arguments'],
    [
      'a sum with one parameter',
      'sum[imports.l|0|a|->1]',
      '*mapping expression take a minimum of 2 arguments',
    ],
    ['a sum with four', 'sum[imports.l|0|a,b,c,d|->1]', '*mapping expression take a maximum of 3 arguments'],
    ['an error of its own', 'error("stop here")', '*stop here'],
    ['an error with a value', 'error("%d of %s", 5, "x")', '*5 of x'],
    ['an error with a lambda', 'error("%s", lambda|x|->x)', '*lambda|x|->x'],
    ['an error that ends with a percent sign', 'error("100%")', '*100%!(NOVERB)'],
    ['an error without a message', 'error()', "*alt least one argument required for 'error'"],
    ['string plus number', '"a" + 1', '*first argument for addition must be IP address, CIDR or number'],
    [
      'an operand that is not an integer, before a missing one',
      'imports.f % nope',
      '*integer operand required',
    ],
    ['a missing operand', '1 + ', "*parse error near symbol 5 - symbol 7: '  '"],
    ['a step without name', 'imports.v. ', "*parse error near symbol 10 - symbol 11: 'v'"],
    ['an unclosed list', '[1, 2', "*parse error near symbol 7 - symbol 8: ' '"],
    [
      'an integer that is too large',
      '12345678901234567890',
      "*parse error near symbol 2 - symbol 22: '12345678901234567890': an integer has 64 bits",
    ],
    ['a marker that was a proof of concept', '&dynamic', '*the marker &dynamic is not supported'],
  ];
  for (const [title, expression, why] of rows) {
    it(`is reported: ${title}`, () => {
      expect(failure({ r: `(( ${expression} ))` })).to.equal(one(expression, why));
    });
  }

  it('is reported with those that wait for it, errors first', () => {
    expect(failure({ a: '(( nope ))', b: '(( a ))', c: '(( imports.name.x ))' })).to.equal(
      "unresolved nodes:\n\t(( nope ))\tin template\ta\t()\t*'nope' not found" +
        "\n\t(( imports.name.x ))\tin template\tc\t()\t*'imports.name.x' not found" +
        "\n\t(( a ))\tin template\tb\t()\t-'a' unresolved",
    );
  });

  it('is reported if it is cyclic', () => {
    expect(failure({ a: '(( b ))', b: '(( a ))' })).to.equal(
      "unresolved nodes:\n\t(( b ))\tin template\ta\t()\t@'b' unresolved\n\t(( a ))\tin template\tb\t()\t@'a' unresolved",
    );
  });

  it('is reported with the path through templates and lambdas', () => {
    expect(failure({ t: { '<<<': '(( &template ))', x: '(( yy ))' }, i: '(( *t ))' })).to.equal(
      "unresolved nodes:\n\t(( *(t) ))\tin template\ti\t()\t*resolution of template 't' failed" +
        "\n\t\t\t(( yy ))\tin template\tx\t(i.x)*'yy' not found",
    );
    expect(failure({ f: '(( |x|->x.secret ))', r: '(( .f(imports.name) ))' })).to.match(
      /evaluation of lambda expression failed: lambda\|x\|->x\.secret: \{x\}\n\t\t\.\.\. 'x\.secret' not found$/,
    );
  });

  it('is reported with its final place, if entries before it were omitted', () => {
    expect(failure({ l: ['(( ~~ ))', '(( .l ))'] })).to.equal(
      "unresolved nodes:\n\t(( .l ))\tin template\tl.[0]\t()\t@'.l' unresolved",
    );
  });

  it('DF-138: is reported with its place in lists, by name and by index', () => {
    const document = { deployItems: [{ name: 'a', config: { v: '(( imports.nope ))' } }] };
    expect(failure(document)).to.equal(
      "unresolved nodes:\n\t(( imports.nope ))\tin template\tdeployItems.[0].config.v\t(deployItems.name:a.config.v)\t*'imports.nope' not found",
    );
  });
});
