import { expect } from 'chai';
import fc from 'fast-check';
import { mergeDiff } from '../../../src/lib/merge.ts';
import { deepFreeze, equal } from '../../../src/lib/json.ts';
import { applyJsonPatch, applyMergePatch, PatchError } from '../../../src/apiserver/patch/patch.ts';

const configMap = deepFreeze({ metadata: { labels: { x: 'y' } }, data: { a: '1', b: '2' }, list: [1, 2, 3] });

function failureOf(run: () => unknown): { code: number; reason: string | undefined; message: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof PatchError)
      return { code: error.code, reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('the patch was applied');
}

describe('a merge patch', () => {
  const rows: [string, unknown, object][] = [
    ['adds', { data: { c: '3' } }, { a: '1', b: '2', c: '3' }],
    ['removes fields by null', { data: { a: null } }, { b: '2' }],
    ['replaces a whole list', { list: [9] }, { a: '1', b: '2' }],
    [
      'removes nulls when merging into a missing value',
      { data: { a: { b: null, c: { d: null } } } },
      { a: { c: {} }, b: '2' },
    ],
  ];
  for (const [title, patch, data] of rows) {
    it(`API-92: ${title}`, () => {
      expect(applyMergePatch(configMap, patch).data).to.deep.equal(data);
    });
  }

  it('API-94: must be an object', () => {
    expect(failureOf(() => applyMergePatch(configMap, null))).to.deep.equal({
      code: 400,
      reason: 'BadRequest',
      message: 'Invalid JSON Patch',
    });
    expect(failureOf(() => applyMergePatch(configMap, []))).to.deep.equal({
      code: 400,
      reason: 'BadRequest',
      message:
        'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    });
  });

  it('computed from two objects turns one into the other', () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean());
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(leaf),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('tree')),
      ),
    }));
    const object = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tree);
    fc.assert(
      fc.property(object, object, (from, to) => {
        const patched = applyMergePatch(from, mergeDiff(from, to) ?? {});
        expect(equal(patched, to), JSON.stringify({ from, to, patched })).to.equal(true);
      }),
    );
  });
});

describe('a JSON patch', () => {
  const rows: [string, object[], object][] = [
    ['adds', [{ op: 'add', path: '/data/c', value: '3' }], { a: '1', b: '2', c: '3' }],
    [
      'adds a missing value instead of replacing it',
      [{ op: 'replace', path: '/data/c', value: '3' }],
      { a: '1', b: '2', c: '3' },
    ],
    ['copies', [{ op: 'copy', from: '/data/a', path: '/data/c' }], { a: '1', b: '2', c: '1' }],
    ['moves', [{ op: 'move', from: '/data/a', path: '/data/c' }], { b: '2', c: '1' }],
    ['removes', [{ op: 'remove', path: '/data/a' }], { b: '2' }],
    [
      'continues after a test that succeeds',
      [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'remove', path: '/data/a' },
      ],
      { b: '2' },
    ],
    [
      'distinguishes a missing member from null',
      [{ op: 'test', path: '/data/q', value: null }],
      { a: '1', b: '2' },
    ],
    ['decodes escapes', [{ op: 'add', path: '/data/x~1y~0z', value: '3' }], { a: '1', b: '2', 'x/y~z': '3' }],
  ];
  for (const [title, patch, data] of rows) {
    it(`API-95: ${title}`, () => {
      expect(applyJsonPatch(configMap, patch).data).to.deep.equal(data);
    });
  }

  it('counts negative list indices from the end, and appends at "-"', () => {
    const patch = [
      { op: 'add', path: '/list/-', value: 4 },
      { op: 'replace', path: '/list/-2', value: 9 },
      { op: 'remove', path: '/list/0' },
    ];
    expect(applyJsonPatch(configMap, patch).list).to.deep.equal([2, 9, 4]);
  });

  const bad: [string, object[]][] = [
    ['a test that fails', [{ op: 'test', path: '/data/a', value: '2' }]],
    ['removing a missing value', [{ op: 'remove', path: '/data/zz' }]],
    ['an unknown operation', [{ op: 'bogus', path: '/data/a' }]],
    ['a missing parent', [{ op: 'add', path: '/foo/bar', value: 1 }]],
    ['appending to a missing list', [{ op: 'add', path: '/metadata/finalizers/-', value: 'a/b' }]],
    ['an index beyond the end', [{ op: 'replace', path: '/list/3', value: 1 }]],
    ['a missing path', [{ op: 'add' }]],
  ];
  for (const [title, patch] of bad) {
    it(`API-96: rejects ${title}`, () => {
      expect(failureOf(() => applyJsonPatch(configMap, patch))).to.deep.equal({
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
      });
    });
  }

  it('rejects more than 10 000 operations', () => {
    const patch = Array.from({ length: 10_001 }, () => ({ op: 'remove', path: '/a' }));
    expect(failureOf(() => applyJsonPatch(configMap, patch))).to.deep.equal({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
  });
});
