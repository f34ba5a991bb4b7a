import { expect } from 'chai';
import { apiErrorFrom, DefinitionError } from '../../../../src/runtime/errors.ts';
import {
  addFinalizer,
  checkFinalizer,
  defaultFinalizer,
  hasFinalizer,
  removeFinalizer,
} from '../../../../src/runtime/controller/finalizer.ts';
import type { Client, Obj, View, Write, Writer } from '../../../../src/runtime/types.ts';
import { objectOf } from '../support/source-host.ts';
import { widgets } from '../support/world.ts';

const ours = 'example.io/ours';
const having = (finalizers?: readonly string[], more: object = {}): View<Obj> =>
  objectOf('A/1', { uid: 'u', ...(finalizers && { finalizers }), ...more });
const refusal = (status: number): Error => apiErrorFrom(status, {}, { verb: 'patch', kind: 'Widget' });

/** Writes fail with `failures` one after the other; reads find `live`. */
function stage(failures: readonly (Error | undefined)[] = [], live: View<Obj> | Error = having()) {
  const writes: Write[] = [];
  let reads = 0;
  const { signal } = new AbortController();
  const write = ((each: Write, given: AbortSignal) => {
    expect(given).to.equal(signal);
    writes.push(each);
    const failure = failures[writes.length - 1];
    return failure ? Promise.reject(failure) : Promise.resolve('answer');
  }) as unknown as Writer;
  const client = {
    get: () => {
      reads++;
      return live instanceof Error ? Promise.reject(live) : Promise.resolve(live);
    },
  } as unknown as Client;
  return { ports: { client, write, signal }, writes, reads: () => reads };
}
type Change = typeof addFinalizer<Obj>;
const changed = async (change: Change, object: View<Obj>, { ports, writes }: ReturnType<typeof stage>) => {
  const answer: unknown = await change(widgets, object, ours, ports).catch((error: unknown) => error);
  return { answer, ops: writes.map((write) => ('ops' in write ? write.ops : write)) };
};
const test = (value: unknown) => ({ op: 'test', path: '/metadata/finalizers', value });

describe('the name of a finalizer', () => {
  it('consists of the plural and the group', () => {
    expect([defaultFinalizer(widgets), defaultFinalizer({ ...widgets, group: '' })]).to.deep.equal([
      'widgets.example.io/finalizer',
      'widgets/finalizer',
    ]);
  });

  const long = (length: number): string => 'a'.repeat(length);
  const rows: readonly (readonly [string, boolean])[] = [
    ['example.org/name', true],
    ['a/b', true],
    ['e-x.a1.org/Name_1.x-Y', true],
    [`${long(253)}/x`, true],
    [`${long(254)}/x`, false],
    [`x/${long(63)}`, true],
    [`x/${long(64)}`, false],
    ['', false],
    ['name', false],
    ['/name', false],
    ['example.org/', false],
    ['example.org/name/more', false],
    ['Example.org/name', false],
    ['-example.org/name', false],
    ['example-.org/name', false],
    ['example..org/name', false],
    ['example.org./name', false],
    ['exa mple.org/name', false],
    ['example.org/-name', false],
    ['example.org/name-', false],
    ['example.org/na me', false],
  ];
  for (const [name, isValid] of rows)
    it(`is ${isValid ? 'taken' : 'refused'}: ${JSON.stringify(name.length > 40 ? `${name.slice(0, 3)}…${String(name.length)}` : name)}`, () => {
      const check = (): void => {
        checkFinalizer(name);
      };
      if (isValid) expect(check).not.to.throw();
      else
        expect(check).to.throw(
          DefinitionError,
          `finalizer ${JSON.stringify(name)} is not a name of the form`,
        );
    });

  for (const [finalizers, expected] of [
    [undefined, false],
    [['x'], false],
    [['x', ours], true],
  ] as const)
    it(`is looked for in ${JSON.stringify(finalizers)}`, () => {
      expect(hasFinalizer(having(finalizers), ours)).to.equal(expected);
    });
});

describe('a finalizer that is added', () => {
  const rows: readonly (readonly [string, View<Obj>, readonly object[]])[] = [
    ['is the first', having(), [test(null), { op: 'add', path: '/metadata/finalizers', value: [ours] }]],
    [
      'is the first of an empty list',
      having([]),
      [test(null), { op: 'add', path: '/metadata/finalizers', value: [ours] }],
    ],
    [
      'goes behind those of others',
      having(['x']),
      [test(['x']), { op: 'add', path: '/metadata/finalizers/-', value: ours }],
    ],
  ];
  for (const [title, object, ops] of rows)
    it(title, async () => {
      const scene = stage();
      expect(await changed(addFinalizer, object, scene)).to.deep.equal({ answer: 'answer', ops: [ops] });
      expect(scene.writes[0]).to.deep.include({ verb: 'json', kind: widgets, key: 'A/1', lock: true });
    });

  for (const [title, object] of [
    ['is there already', having([ours])],
    ['comes too late', having(['x'], { deletionTimestamp: 'now' })],
  ] as const)
    it(`is not written when it ${title}`, async () => {
      expect(await changed(addFinalizer, object, stage())).to.deep.equal({ answer: object, ops: [] });
    });
});

describe('a finalizer that is removed', () => {
  for (const [title, finalizers, index] of [
    ['alone', [ours], 0],
    ['among others', ['x', ours, 'y'], 1],
  ] as const)
    it(`is taken from its place: ${title}`, async () => {
      expect(await changed(removeFinalizer, having(finalizers), stage())).to.deep.equal({
        answer: 'answer',
        ops: [[test(finalizers), { op: 'remove', path: `/metadata/finalizers/${String(index)}` }]],
      });
    });

  for (const finalizers of [undefined, ['x']])
    it(`is not written when it is not there: ${JSON.stringify(finalizers)}`, async () => {
      const object = having(finalizers);
      expect(await changed(removeFinalizer, object, stage())).to.deep.equal({ answer: object, ops: [] });
    });
});

describe('a change of finalizers that the server refuses', () => {
  for (const status of [409, 422])
    it(`is computed again from what is there now (${String(status)})`, async () => {
      const scene = stage([refusal(status)], having(['x']));
      const { answer, ops } = await changed(addFinalizer, having(), scene);
      expect(answer).to.equal('answer');
      expect(ops[1]).to.deep.equal([test(['x']), { op: 'add', path: '/metadata/finalizers/-', value: ours }]);
    });

  it('is over when the object has the finalizer meanwhile', async () => {
    const live = having([ours]);
    const scene = stage([refusal(409)], live);
    expect((await changed(addFinalizer, having(), scene)).answer).to.equal(live);
    expect(scene.writes).to.have.length(1);
  });

  const gone: readonly (readonly [string, ReturnType<typeof stage>])[] = [
    ['when the write finds no object', stage([refusal(404)])],
    ['when the read finds no object', stage([refusal(409)], refusal(404))],
    ['when the read finds another object of the name', stage([refusal(409)], having([], { uid: 'other' }))],
  ];
  for (const [title, scene] of gone)
    it(`has no answer ${title}`, async () => {
      expect((await changed(addFinalizer, having(), scene)).answer).to.equal(undefined);
      expect(scene.writes).to.have.length(1);
    });

  it('fails after ten tries', async () => {
    const scene = stage(Array<Error>(20).fill(refusal(409)));
    const { answer } = await changed(addFinalizer, having(), scene);
    expect(answer).to.have.property('status', 409);
    expect([scene.writes.length, scene.reads()]).to.deep.equal([10, 9]);
  });

  it('fails at once with another refusal', async () => {
    const scene = stage([refusal(403)]);
    expect((await changed(addFinalizer, having(), scene)).answer).to.have.property('status', 403);
    expect([scene.writes.length, scene.reads()]).to.deep.equal([1, 0]);
  });

  it('fails when the object cannot be read', async () => {
    const scene = stage([refusal(409)], refusal(503));
    expect((await changed(addFinalizer, having(), scene)).answer).to.have.property('status', 503);
  });
});
