import { expect } from 'chai';
import { checkDelete, checkError, checkUpdate } from '../../../../src/runtime/controller/check-control.ts';
import type { DeleteControl, ErrorControl, UpdateControl, View } from '../../../../src/runtime/types.ts';
import type { Widget } from '../support/world.ts';

const primary: View<Widget> = {
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  metadata: { namespace: 'A', name: '1' },
};
const named = (name: string, namespace?: string) => ({ ...primary, metadata: { name, namespace } });

const messageOf = (check: () => void): string | undefined => {
  try {
    check();
    return undefined;
  } catch (error) {
    expect(error).to.be.instanceOf(TypeError);
    return (error as Error).message;
  }
};

describe('the result of reconcile', () => {
  const valid = [
    { write: 'none' },
    { write: 'none', requeueAfterMs: 0.5 },
    { write: 'none', requeueAfterMs: undefined },
    { write: 'status', object: primary, lock: false, strategy: 'apply', echo: 'ignore', requeueAfterMs: 5 },
  ];
  for (const control of valid)
    it(`may be ${JSON.stringify(control)}`, () => {
      expect(messageOf(() => checkUpdate(control as UpdateControl<Widget>, primary))).to.equal(undefined);
    });

  const rows: readonly (readonly [unknown, string])[] = [
    [undefined, "reconcile returned nothing; return { write: 'none' } if there is nothing to write"],
    ['none', `reconcile returned "none"; return { write: 'none' } if there is nothing to write`],
    [{}, `reconcile returned no "write"; return { write: 'none' } if there is nothing to write`],
    [
      { write: 'Status' },
      'reconcile returned an invalid "write": it must be "none" or "status" or "resource" or "both", not "Status"',
    ],
    [
      { write: 'none', requeueAfter: 5 },
      'reconcile returned the unknown field "requeueAfter"; did you mean requeueAfterMs?',
    ],
    [
      { write: 'none', constructor: 5 },
      'reconcile returned the unknown field "constructor"; known are write, object, lock, strategy, echo, requeueAfterMs',
    ],
    ...[0, -1, NaN, Infinity, '5s'].map(
      (requeueAfterMs) =>
        [
          { write: 'none', requeueAfterMs },
          `reconcile returned an invalid "requeueAfterMs": it must be a positive number of milliseconds, not ${requeueAfterMs === '5s' ? '"5s"' : String(requeueAfterMs)}; leave it out to wait for the next event`,
        ] as const,
    ),
    [
      { write: 'status', object: primary, lock: 'yes' },
      'reconcile returned an invalid "lock": it must be true or false, not "yes"',
    ],
    [
      { write: 'status' },
      'reconcile returned an "object" without metadata; return ctx.draft() with your changes',
    ],
    [
      { write: 'status', object: named('2', 'A') },
      'reconcile returned "object" "A/2", but the primary is "A/1"; write other objects with ctx.write',
    ],
    [
      { write: 'resource', object: named('1', 'B') },
      'reconcile returned "object" "B/1", but the primary is "A/1"; write other objects with ctx.write',
    ],
    [
      { write: 'resource', object: named('1') },
      'reconcile returned "object" "1", but the primary is "A/1"; write other objects with ctx.write',
    ],
  ];
  for (const [control, message] of rows)
    it(`is refused: ${message}`, () => {
      expect(messageOf(() => checkUpdate(control as UpdateControl<Widget>, primary))).to.equal(message);
    });
});

describe('the result of cleanup', () => {
  for (const control of [{ finalizer: 'remove' }, { finalizer: 'keep', requeueAfterMs: 5 }])
    it(`may be ${JSON.stringify(control)}`, () => {
      expect(messageOf(() => checkDelete(control as DeleteControl))).to.equal(undefined);
    });

  const wayOut = "return { finalizer: 'remove' } if nothing is left, otherwise { finalizer: 'keep' }";
  const rows: readonly (readonly [unknown, string])[] = [
    [undefined, `cleanup returned nothing; ${wayOut}`],
    [{}, `cleanup returned no "finalizer"; ${wayOut}`],
    [{ finalizer: true }, 'cleanup returned an invalid "finalizer": it must be "remove" or "keep", not true'],
    [
      { finalizer: 'keep', requeueAfterMs: 0 },
      'cleanup returned an invalid "requeueAfterMs": it must be a positive number of milliseconds, not 0; leave it out to wait for the next event',
    ],
  ];
  for (const [control, message] of rows)
    it(`is refused: ${message}`, () => {
      expect(messageOf(() => checkDelete(control as DeleteControl))).to.equal(message);
    });
});

describe('the result of onError', () => {
  for (const control of ['default', { retry: true }, { retry: false, status: primary, requeueAfterMs: 5 }])
    it(`may be ${JSON.stringify(control)}`, () => {
      expect(messageOf(() => checkError(control as ErrorControl<Widget>, primary))).to.equal(undefined);
    });

  const rows: readonly (readonly [unknown, string])[] = [
    [undefined, "onError returned nothing; return 'default' for a retry"],
    ['retry', `onError returned "retry"; return 'default' for a retry`],
    [{ status: primary }, `onError returned no "retry"; return 'default' for a retry`],
    [
      { retry: true, status: named('2', 'A') },
      'onError returned "status" "A/2", but the primary is "A/1"; write other objects with ctx.write',
    ],
  ];
  for (const [control, message] of rows)
    it(`is refused: ${message}`, () => {
      expect(messageOf(() => checkError(control as ErrorControl<Widget>, primary))).to.equal(message);
    });
});
