import { expect } from 'chai';
import type { KubeAccess } from '../../../../deployers/sdk/access.ts';
import { ConfigurationError } from '../../../../deployers/sdk/errors.ts';
import { readExports, type ExportPorts } from '../../../../deployers/objects/exports.ts';
import { evaluate } from '../../../../deployers/objects/json-path.ts';
import { customChecks } from '../../../../deployers/objects/readiness/check.ts';
import type { FieldRequirement } from '../../../../deployers/objects/readiness/custom.ts';

/** Nested lists, as deep as a response of a target may be. */
const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner) => ({ a: inner, b: [1, 2] }), 1);

/** A target on which every object is this one. */
const portsTo = (object: unknown): ExportPorts => {
  const access = {
    kindOf: () => Promise.resolve({}),
    client: { get: () => Promise.resolve(object) },
  } as unknown as KubeAccess;
  return {
    access,
    secondary: () => Promise.resolve(access),
    signal: new AbortController().signal,
    assertTimeLeft: () => undefined,
  };
};

const from = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'b' };

describe('limits on JSON paths', () => {
  const rows: readonly (readonly [string, string, unknown])[] = [
    ['consecutive recursive descents', '..*..*..*', nested(400)],
    ['the same element many times', `[${'0,'.repeat(500)}0]`.repeat(3), [[[1]]]],
    ['filters with a descent in each', '..[?(@..a)]', nested(1500)],
  ];
  for (const [title, path, object] of rows) {
    it(`end ${title}`, () => {
      expect(() => evaluate(path, object)).to.throw(
        ConfigurationError,
        /visit more than 1000000 values.+fixed limit/,
      );
    });
  }

  it('end a path of more than 4096 characters, which could take quadratic time to parse', () => {
    const path = `[?(@.a${' '.repeat(100_000)}=)]`;
    expect(() => evaluate(path, {})).to.throw(
      ConfigurationError,
      /has 100009 characters, more than 4096, a fixed limit/,
    );
  });

  it('allow a descent through the largest response of a target', () => {
    const object = Array.from({ length: 65_000 }, () => ({ a: 1 }));
    expect(evaluate('..[?(@.a==1)].a', { object })).to.have.length(65_000);
  });

  it('count all exports of one reconcile together', async () => {
    const object = { list: Array.from({ length: 100_000 }, (_, i) => i) };
    const exports = Array.from({ length: 20 }, (_, i) => ({ key: `k${String(i)}`, jsonPath: '..*', from }));
    const one = await readExports(exports.slice(0, 1), portsTo(object));
    expect(one).to.include({ isComplete: true });
    const all = await readExports(exports, portsTo(object)).catch((error: unknown) => error);
    expect(all)
      .to.be.instanceOf(ConfigurationError)
      .with.property('message')
      .that.matches(/1000000 values/);
  });

  it('count the size of all exports together', async () => {
    const object = { text: 'x'.repeat(2 ** 20) };
    const exports = Array.from({ length: 20 }, (_, i) => ({ key: `k${String(i)}`, jsonPath: '.text', from }));
    expect(await readExports(exports.slice(0, 15), portsTo(object))).to.include({ isComplete: true });
    const all = await readExports(exports, portsTo(object)).catch((error: unknown) => error);
    expect(all)
      .to.be.instanceOf(ConfigurationError)
      .with.property('message')
      .that.matches(/16 MiB.+fixed/);
  });

  const requirement = (jsonPath: string, values: readonly unknown[]): FieldRequirement => ({
    jsonPath,
    operator: 'in',
    values: values.map((value) => ({ value })),
  });
  const checks: readonly (readonly [string, unknown, readonly FieldRequirement[]])[] = [
    [
      'requirements that each search through the object',
      { list: Array.from({ length: 100_000 }, (_, i) => i) },
      Array.from({ length: 20 }, () => ({ jsonPath: '..*', operator: 'exists', values: [] }) as const),
    ],
    [
      'many results that are compared with a large value',
      { list: Array.from({ length: 5_000 }, () => [1]) },
      [requirement('.list[*]', [Array.from({ length: 5_000 }, (_, i) => i)])],
    ],
    [
      'many results that are compared with a long string',
      { list: Array.from({ length: 500 }, () => 'x') },
      [requirement('.list[*]', ['x'.repeat(1_000_000)])],
    ],
  ];
  for (const [title, object, requirements] of checks) {
    it(`end ${title}`, async () => {
      const check = { name: 'c', isDisabled: false, resources: [from], requirements };
      const found = await customChecks([check], portsTo(object)).catch((error: unknown) => error);
      expect(found)
        .to.be.instanceOf(ConfigurationError)
        .with.property('message')
        .that.matches(/1000000 values/);
    });
  }
});
