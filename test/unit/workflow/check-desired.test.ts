import { expect } from 'chai';
import { ConfigMap, Namespace, Secret } from '../../../src/runtime/core-kinds.ts';
import { DefinitionError } from '../../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { desiredCheck } from '../../../src/workflow/check-desired.ts';
import { kubernetes } from '../../../src/workflow/kubernetes.ts';
import { kubernetesBulk } from '../../../src/workflow/kubernetes-bulk.ts';
import { FakeClock } from '../../support/clock.ts';
import { parts, type Part, type Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

const clusterScoped = { ...primary, metadata: { name: 'a', uid: 'uid-a' } };
const of = (metadata: object, more: object = {}): Obj => ({ metadata, ...more }) as Obj;

describe('the desired object of a dependent', () => {
  interface Given {
    readonly kind?: Kind<never> | Kind;
    readonly selector?: string;
    readonly namespaces?: readonly string[] | object;
    readonly p?: Obj;
  }
  const problem = (desired: unknown, { kind = ConfigMap, p = primary as Obj, ...reads }: Given = {}) =>
    desiredCheck({ kind, ...reads })(desired as Obj, p);

  const valid: readonly (readonly [string, unknown, Given?])[] = [
    ['with a name', of({ name: 'x' })],
    ['of the kind of the dependent', of({ name: 'x' }, { apiVersion: 'v1', kind: 'ConfigMap' })],
    ['in another namespace', of({ name: 'x', namespace: 'other' })],
    ['of a kind without namespaces', of({ name: 'x' }, {}), { kind: Namespace }],
    ['in a namespace, for a cluster-scoped primary', of({ name: 'x', namespace: 'y' }), { p: clusterScoped }],
    ['whose labels match the selector', of({ name: 'x', labels: { a: 'b' } }), { selector: 'a=b' }],
    ['in a namespace that is read', of({ name: 'x' }), { namespaces: ['ns', 'other'] }],
    ['if all namespaces are read', of({ name: 'x' }), { namespaces: [] }],
    ['if the namespaces may change', of({ name: 'x' }), { namespaces: { includes: () => false } }],
    [
      'with base64',
      of({ name: 'x' }, { data: { a: 'YWI=', b: '', c: 'YWJj\nYWI=\n', d: null } }),
      { kind: Secret },
    ],
    ['with plain text', of({ name: 'x' }, { stringData: { a: 'ab!' } }), { kind: Secret }],
  ];
  for (const [title, desired, given] of valid)
    it(`may be one ${title}`, () => {
      expect(problem(desired, given)).to.equal(undefined);
    });

  const noName =
    '"desired" returned ConfigMap without a name; set metadata.name, since a name that the server generates cannot be found again';
  const rows: readonly (readonly [unknown, string, Given?])[] = [
    [{}, noName],
    [{ metadata: {} }, noName],
    [{ metadata: { name: '' } }, noName],
    [of({ generateName: 'x-' }), noName],
    [
      of({ name: 'x' }, { kind: 'Secret' }),
      '"desired" returned kind "Secret" for a dependent of kind ConfigMap; leave it out, or use another dependent',
    ],
    [
      of({ name: 'x' }, { apiVersion: 'v2' }),
      '"desired" returned apiVersion "v2" for a dependent of apiVersion v1; leave it out, or use another dependent',
    ],
    [
      of({ name: 'x', namespace: 'y' }),
      '"desired" returned Namespace x with namespace y, but the kind has no namespaces; leave it out',
      { kind: Namespace },
    ],
    [
      of({ name: 'x' }),
      '"desired" returned ConfigMap x without a namespace, and the primary has none; set metadata.namespace',
      { p: clusterScoped },
    ],
    [
      of({ name: 'x' }),
      '"desired" returned ConfigMap ns/x, but the dependent reads only the namespaces b, c; add ns to "namespaces", or use one of them',
      { namespaces: ['b', 'c'] },
    ],
    [
      of({ name: 'x', labels: { a: 'c' } }),
      '"desired" returned ConfigMap x, whose labels do not match the selector "a=b" of the dependent, so it would never be found again; add the labels, or change the selector',
      { selector: 'a=b' },
    ],
    ...['plain', 'YWI', 'YWI=YWI=', 5].map(
      (value) =>
        [
          of({ name: 'x' }, { data: { password: value } }),
          '"desired" returned Secret x, whose data "password" is not base64; encode it, or put plain text into stringData',
          { kind: Secret },
        ] as const,
    ),
    [
      of({ name: 'x' }, { binaryData: { logo: '<svg>' } }),
      '"desired" returned ConfigMap x, whose binaryData "logo" is not base64; encode it, or put plain text into data',
    ],
  ];
  for (const [desired, message, given] of rows)
    it(`is refused: ${JSON.stringify(desired)}: ${message}`, () => {
      expect(problem(desired, given)).to.equal(message);
    });

  it('is checked before it is written, alone and among several', async () => {
    const ctx = contextOn(new FakeClock());
    const spec = { kind: parts, selector: 'a=b' };
    const wrong = { metadata: { name: 'p' } };
    const one = kubernetes<Part, Widget>({ ...spec, desired: () => wrong });
    const many = kubernetesBulk<Part, Widget>({ ...spec, desiredAll: () => new Map([['p', wrong]]) });
    for (const ask of [() => one.desired?.(primary, ctx), () => many.desiredAll?.(primary, ctx)])
      expect(await Promise.resolve(ask()).catch(String)).to.include(
        'dependent "part" of Widget ns/a: "desired" returned Part p, whose labels do not match the selector "a=b"',
      );
  });

  it('has a selector that is valid when the controller is created', () => {
    expect(() => kubernetes<Part, Widget>({ kind: parts, selector: 'a b' })).to.throw(DefinitionError);
  });
});
