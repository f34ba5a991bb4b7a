/** How rules of types are applied to objects of built-in kinds. */
import { expect } from 'chai';
import { builtInKinds } from '../../../src/apiserver/kinds/catalogue.ts';
import { strategies } from '../../../src/apiserver/kinds/strategies/index.ts';
import { isValid, ruleErrors } from '../../../src/apiserver/kinds/rules/engine.ts';
import { ruleTables } from '../../../src/apiserver/kinds/rules/tables.ts';
import { kindsData } from '../../../src/apiserver/kinds/schemas.ts';
import type { Kind } from '../../../src/apiserver/kinds/kinds.ts';
import type { KubeObject } from '../../../src/apiserver/types.ts';

const kindOf = (apiVersion: string, name: string): Kind => {
  const found = builtInKinds(strategies).find((kind) => kind.apiVersion === apiVersion && kind.kind === name);
  if (!found) throw new Error(`${name} is not built in`);
  return found;
};

const pod = (spec: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec,
});

const fields = (errors: readonly { field: string }[]): string[] => errors.map(({ field }) => field);

describe('rules of types', () => {
  const kind = kindOf('v1', 'Pod');
  const invalid = pod({ dnsPolicy: 'x', volumes: [{ name: 'v', hostPath: {} }] });

  it('API-189: are applied at each place of the type, and name it', () => {
    expect(fields(ruleErrors(kind, invalid))).to.deep.equal([
      'spec.dnsPolicy',
      'spec.volumes[0].hostPath.path',
    ]);
  });

  it('API-189: do not prevent changes of objects that were invalid before', () => {
    const next = pod({ ...(invalid['spec'] as object), hostname: 'A' });
    expect(fields(ruleErrors(kind, next, invalid))).to.deep.equal(['spec.hostname']);
    expect(ruleErrors(kind, invalid, invalid)).to.deep.equal([]);
  });

  it('API-189: do not look into members that must not be there', () => {
    const both = pod({ volumes: [{ name: 'v', emptyDir: {}, nfs: {} }] });
    expect(fields(ruleErrors(kind, both))).to.deep.equal(['spec.volumes[0].nfs']);
  });

  it('API-189: decide about a part of an object', () => {
    expect(isValid('core.v1.Volume', { name: 'v', emptyDir: {} })).to.equal(true);
    expect(isValid('core.v1.Volume', { emptyDir: {} })).to.equal(false);
  });

  it('API-189: are only about types and members that exist', () => {
    const schemaOf = (name: string) =>
      kindsData().schemas[`io.k8s.api.${name}`] ??
      kindsData().schemas[`io.k8s.apimachinery.pkg.apis.${name}`];
    for (const [name, rules] of ruleTables) {
      const members = Object.keys(schemaOf(name)?.properties ?? {});
      expect(members, name).to.not.deep.equal([]);
      expect(members, name).to.include.members([
        ...Object.keys(rules.members ?? {}),
        ...Object.keys(rules.shown ?? {}),
        ...(rules.unchecked ?? []),
      ]);
    }
  });
});
