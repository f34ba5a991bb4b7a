import { expect } from 'chai';
import { fileTreeOf } from '../../../../src/lib/file-tree.ts';
import { SpiffProblem } from '../../../../src/templating/spiff/problem.ts';
import { answerTo, rendered, valueOf } from './given.ts';

describe('a Spiff document', () => {
  const rows: readonly (readonly [title: string, document: unknown, value: unknown])[] = [
    [
      'DF-140: merges maps, and its own entries take precedence',
      { '<<<': '(( imports.m ))', a: 9, d: 4 },
      { a: 9, b: 2, d: 4 },
    ],
    [
      'splices lists, without entries whose name already exists',
      { l: [{ '<<<': '(( x ))' }, { name: 'a', v: 1 }], x: [{ name: 'a', v: 2 }, { name: 'b' }] },
      { l: [{ name: 'b' }, { name: 'a', v: 1 }], x: [{ name: 'a', v: 2 }, { name: 'b' }] },
    ],
    [
      'DF-141: omits temporary values',
      {
        h: { '<<<': '(( &temporary ))', p: 'p-' },
        f: '(( &temporary(lambda |x|->h.p x) ))',
        r: '(( .f("q") ))',
      },
      { r: 'p-q' },
    ],
    [
      'DF-139: keeps an expression that is only part of a string, and one that is escaped',
      { text: 'pre (( imports.name ))', escaped: '((! x ))' },
      { text: 'pre (( imports.name ))', escaped: '(( x ))' },
    ],
    ['omits undefined values', { a: '(( ~~ ))', l: ['(( ~~ ))', 1] }, { l: [1] }],
    [
      'evaluates templates where they are used',
      {
        t: { '<<<': '(( &template ))', who: '(( name ))' },
        name: 'outer',
        i: '(( *t ))',
        j: { '<<<': '(( *t ))', name: 'inner' },
      },
      {
        t: { '<<<': '(( &template ))', who: '(( name ))' },
        name: 'outer',
        i: { who: 'outer' },
        j: { name: 'inner', who: 'inner' },
      },
    ],
    [
      'evaluates a list as a template with the names around its use',
      {
        t: [{ '<<': '(( &template ))' }, '(( name ))', { a: '(( .name ))' }],
        name: 'outer',
        j: { name: 'inner', v: '(( *t ))' },
      },
      {
        t: [{ '<<': '(( &template ))' }, '(( name ))', { a: '(( .name ))' }],
        name: 'outer',
        j: { name: 'inner', v: ['inner', { a: 'outer' }] },
      },
    ],
    [
      'finds templates among others',
      {
        t: { '<<<': '(( &template ))', who: '(( name ))' },
        r: '(( &temporary(t) ))',
        f: '(( contains([1, r], t) ))',
      },
      { t: { '<<<': '(( &template ))', who: '(( name ))' }, f: true },
    ],
    [
      'has names that shadow the values',
      { imports: { x: 1 }, a: '(( imports.x ))', b: '(( ___.imports.name ))' },
      { imports: { x: 1 }, a: 1, b: 'web' },
    ],
    [
      'resolves names from the inside out',
      { n: 1, m: { n: 2, o: { a: '(( n ))', b: '(( .n ))' } } },
      { n: 1, m: { n: 2, o: { a: 2, b: 1 } } },
    ],
    ['finds values by their tag', { a: '(( &tag:one(5) ))', b: '(( one::. ))' }, { a: 5, b: 5 }],
    [
      'allows recursive lambdas',
      { fac: '(( &temporary(|x|->x < 2 ? 1 :x * _(x - 1)) ))', r: '(( .fac(5) ))' },
      { r: 120 },
    ],
    ['treats control structures as plain keys', { '<<if': '(( true ))' }, { '<<if': true }],
    ['may be a list', ['(( .[1] ))', 'x'], ['x', 'x']],
    ['may be a list that others are spliced into', ['x', { '<<<': '(( [1, 2] ))' }], ['x', 1, 2]],
    ['may be one expression', '(( imports.m ))', { a: 1, b: 2 }],
    ['may contain dates', { a: '2024-01-02' }, { a: '2024-01-02' }],
  ];
  for (const [title, document, value] of rows) {
    it(title, () => expect(valueOf(document)).to.deep.equal(value));
  }

  it('does not return inherited properties', () => {
    expect(valueOf({ ['__proto__x']: 1, a: '(( defined(constructor) ))' })).to.deep.include({ a: false });
  });
});

describe('stored state', () => {
  it('DF-143: takes precedence over the value of the document at the same place', () => {
    expect(
      valueOf(
        { r: '(( "new" ))', a: 1, m: { x: '(( 2 ))', y: 3 } },
        { state: { r: 'old', a: 5, m: { y: 4 } } },
      ),
    ).to.deep.equal({
      r: 'old',
      a: 5,
      m: { x: 2, y: 4 },
    });
  });

  it('DF-81: is used by a merge before it generates anything', () => {
    const document = { pw: '(( &state(merge || "gen") ))' };
    const state = { pw: 'old' };
    expect(rendered(document, { state })).to.deep.equal({ value: state, state });
    expect(rendered(document, { state: {} }).value).to.deep.equal({ pw: 'gen' });
  });

  it('keeps generated values', () => {
    const document = {
      pw: '(( &state(merge || rand("[:alnum:]", 4)) ))',
      other: '(( rand("[:alnum:]", 4) ))',
    };
    const first = rendered(document, { state: {}, seed: 1 });
    expect(first.state).to.deep.equal({ pw: (first.value as { pw: string }).pw });
    const second = rendered(document, { state: first.state, seed: 7 });
    expect(second.state).to.deep.equal(first.state);
    expect((second.value as { pw: string }).pw).to.equal((first.value as { pw: string }).pw);
  });

  it('is at the top level only', () => {
    expect(rendered({ m: { x: '(( &state(1) ))' } }, { state: {} }).state).to.deep.equal({});
  });

  it('may be ignored by a map that is marked', () => {
    const document = { s: { '<<<': '(( &state(merge none) ))', a: '(( "n" ))' } };
    expect(rendered(document, { state: { s: { a: 'old', b: 2 } } })).to.deep.equal({
      value: { s: { a: 'n' } },
      state: { s: { a: 'n' } },
    });
  });

  it('adds values marked for injection', () => {
    const state = { b: '(( &inject(2) ))', c: '(( &default(3) ))', d: 4 };
    expect(valueOf({ a: 1 }, { state })).to.deep.equal({ a: 1, b: 2, c: 3 });
  });

  const marked: readonly (readonly [title: string, document: unknown, state: unknown, value: unknown])[] = [
    [
      'puts marked elements before those of a list',
      { l: [1] },
      { l: ['(( &inject(2) ))', 4] },
      { l: [2, 1] },
    ],
    [
      'puts elements marked as defaults there, too',
      { l: [1] },
      { l: ['(( &default(3) ))', 4] },
      { l: [3, 1] },
    ],
    ['replaces a value with an injected one', { a: 1 }, { a: '(( &inject(2) ))' }, { a: 2 }],
    ['keeps a value if the state has a default', { a: 1 }, { a: '(( &default(2) ))' }, { a: 1 }],
    ['replaces a default', { a: '(( &default(1) ))' }, { a: 2 }, { a: 2 }],
    ['keeps the nearer of two defaults', { a: '(( &default(1) ))' }, { a: '(( &default(2) ))' }, { a: 1 }],
    ['replaces a value with an injected default', { a: 1 }, { a: '(( &inject &default(2) ))' }, { a: 2 }],
    ['adds to a nested map', { m: { x: 1 } }, { m: { b: '(( &inject(2) ))' } }, { m: { x: 1, b: 2 } }],
  ];
  for (const [title, document, state, value] of marked) {
    it(title, () => {
      expect(valueOf(document, { state })).to.deep.equal(value);
    });
  }

  it('is merged if the document says so', () => {
    const document = {
      z: { '<<<': '(( merge ))', k: 1 },
      y: '(( stub(x.q) || 0 ))',
      l: [{ '<<<': '(( merge on key ))' }, { key: 'x', v: 1 }],
    };
    const state = { z: { k: 4, m: 5 }, x: { q: 9 }, l: [{ key: 'x', v: 2 }, { key: 'z' }] };
    expect(valueOf(document, { state })).to.deep.equal({
      z: { k: 4, m: 5 },
      y: 9,
      l: [{ key: 'z' }, { key: 'x', v: 2 }],
    });
  });
});

describe('files of the blueprint', () => {
  const files = fileTreeOf(
    new Map(
      Object.entries({
        'a.txt': 'hi\n',
        'a.yaml': 'x: (( "dynamic" ))\n',
        't.yaml': 'name: (( imports.name ))\n',
        'dir/b.json': '{"k": [1, 2.5]}',
        'multi.yaml': 'a: 1\n---\nb: 2\n',
        'bad.yaml': 'a: [',
      }).map(([path, text]) => [path, Buffer.from(text)]),
    ),
  );
  const rows: readonly (readonly [expression: string, value: unknown])[] = [
    ['read("/a.txt", "text")', 'hi\n'],
    ['read("a.yaml")', { x: 'dynamic' }],
    ['read("/dir/b.json")', { k: [1, 2.5] }],
    ['read("/a.txt", "binary")', 'aGkK'],
    ['read("/multi.yaml", "multiyaml")', [{ a: 1 }, { b: 2 }]],
    ['*(read("/t.yaml", "template"))', { name: 'web' }],
    ['read("/t.yaml", "template")', { '<<<': '(( &template ))', name: '(( imports.name ))' }],
    ['list_files("/dir")', ['b.json']],
    ['list_dirs("/")', ['dir']],
    ['lookup_file("a.txt", ["/dir", "/"])', ['//a.txt']],
    ['catch(read("/nope.txt", "text")).error', 'read: error reading [/nope.txt]: file does not exist'],
    [
      'catch(read("/../../etc/hostname", "text")).error',
      'read: error reading [/etc/hostname]:  /etc: file does not exist',
    ],
    ['catch(read("/dir/b.json", "json")).error', 'invalid file type [/dir/b.json] json'],
    ['catch(write("/x", "y")).error', 'cannot write file: filehandle is not writable'],
    ['catch(tempfile("x")).error', 'cannot create temporary file: filehandle is not writable'],
    ['catch(mkdir("/x")).error', 'cannot create directory "/x": filehandle is not writable'],
    ['catch(pipe("x", "cat")).error', 'pipe requires at least two arguments'],
  ];
  for (const [expression, value] of rows) {
    it(`(( ${expression} ))`, () => expect(answerTo(expression, { files })).to.deep.equal(value));
  }

  it('are reported by name if they are not valid YAML', () => {
    expect(answerTo('catch(read("/bad.yaml")).error', { files })).to.match(
      /^error parsing file \[\/bad\.yaml\]: /,
    );
  });
});

describe('a document that would never end', () => {
  const rows: readonly (readonly [title: string, document: unknown, message: RegExp])[] = [
    ['an endless lambda', { f: '(( |x|->_(x) ))', r: '(( .f(1) ))' }, /depth|deeply/],
    ['a lambda that doubles its work', { f: '(( |x|->_(x) _(x) ))', r: '(( .f(1) ))' }, /depth|deeply|steps/],
    ['a string in pieces', { t: 'x'.repeat(200_000), r: '(( split(1, t) ))' }, /more than 100000 elements/],
    ['a huge range', { r: '(( [1..1000000000] ))' }, /more than 16777216 bytes/],
    [
      'a string that doubles',
      Object.fromEntries([
        ['a0', 'x'.repeat(64)],
        ...Array.from({ length: 40 }, (_, i) => [`a${i + 1}`, `(( a${i} a${i} ))`]),
      ]),
      /more than/,
    ],
    [
      'a list that doubles',
      Object.fromEntries([
        ['a0', [1, 2]],
        ...Array.from({ length: 40 }, (_, i) => [`a${i + 1}`, `(( a${i} a${i} ))`]),
      ]),
      /more than|steps/,
    ],
    ['an expression that creates itself', { a: '(( "(( a " "))" ))' }, /unresolved|steps|longer/],
    ['nested loops', { r: '(( map[[1..3000]|x|->map[[1..3000]|y|->x]] ))' }, /steps/],
    ['nested templates', { t: { '<<<': '(( &template ))', n: '(( *_ ))' }, i: '(( *t ))' }, /./],
    [
      'a document that is too deep',
      JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`),
      /nested deeper than 200 levels/,
    ],
    [
      'endless parentheses',
      { r: `(( ${'('.repeat(500)}1${')'.repeat(500)} ))` },
      /nested deeper than 200 levels/,
    ],
  ];
  for (const [title, document, message] of rows) {
    it(`is stopped: ${title}`, () => {
      expect(() => valueOf(document, { limits: { maxSteps: 300_000 } })).to.throw(SpiffProblem, message);
    }).timeout(20_000);
  }

  it('may still be nested and recursive to a sensible depth', () => {
    const f = '(( &temporary(|x|->x > 0 ? 1 + _(x - 1) :0) ))';
    expect(valueOf({ f, r: '(( .f(100) ))' })).to.deep.equal({ r: 100 });
    expect(answerTo(`${'('.repeat(60)}1${')'.repeat(60)}`)).to.equal(1);
  });
});
