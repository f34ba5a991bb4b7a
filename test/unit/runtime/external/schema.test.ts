/** The fields that the runtime needs in the CustomResourceDefinition of an external resource. */
import { expect } from 'chai';
import { z } from 'zod';
import { crdOf } from '../../../../src/lib/crd/crd.ts';
import {
  externalSpecProperties,
  externalStatusProperties,
  referenceListProperties,
  withExternalFields,
} from '../../../../src/runtime/external/index.ts';
import { buckets } from './cloud.ts';

interface Version {
  name: string;
  schema: {
    openAPIV3Schema: {
      required?: string[];
      properties: Record<string, { type?: string; properties: object }>;
    };
  };
  subresources: object;
}
const spec = z.object({ size: z.int() });
const definition = (more: object, versions: Parameters<typeof crdOf>[0]['versions'] = []) =>
  crdOf({ kind: buckets, description: 'd', schema: z.object({ spec, ...more }), versions });
const versionsOf = (crd: { spec: object }): readonly Version[] =>
  (crd.spec as { versions: Version[] }).versions;
const fields = Object.keys(externalSpecProperties);
const statusFields = Object.keys(externalStatusProperties);

describe('a definition with the fields of the runtime', () => {
  it('has them in spec and status, in every version, beside its own', () => {
    const older = { version: 'v1alpha1', schema: z.object({ spec: z.object({ weight: z.int() }) }) };
    const versions = versionsOf(withExternalFields(definition({}, [older])));
    expect(versions.map(({ name }) => name)).to.deep.equal(['v1', 'v1alpha1']);
    for (const [i, own] of ['size', 'weight'].entries()) {
      const { schema, subresources } = versions[i] as Version;
      const { properties, required } = schema.openAPIV3Schema;
      expect(properties).to.have.all.keys('metadata', 'spec', 'status');
      expect(properties['spec']?.properties).to.have.all.keys(own, ...fields);
      expect(properties['status']).to.deep.equal({ type: 'object', properties: externalStatusProperties });
      expect(required).to.deep.equal(['spec']);
      expect(subresources).to.deep.equal({ status: {} });
    }
  });

  it('has lists for the values of several objects', () => {
    const properties = referenceListProperties('subnets');
    expect(properties).to.have.all.keys('subnets', 'subnetsRefs', 'subnetsSelector');
    expect(properties).to.have.nested.property('subnets.type', 'array');
    expect(properties).to.have.nested.property('subnetsRefs.type', 'array');
  });

  it('keeps properties that a schema already has', () => {
    const status = z.object({ id: z.string().max(9), cost: z.number() });
    const [version] = versionsOf(withExternalFields(definition({ status })));
    const properties = version?.schema.openAPIV3Schema.properties['status']?.properties;
    expect(properties).to.have.all.keys('cost', ...statusFields);
    expect(properties).to.have.deep.property('id', { type: 'string', maxLength: 9 });
  });

  it('can be created from one without properties, and leaves the given one as it is', () => {
    const given = Object.freeze({
      spec: {
        versions: [
          { name: 'v1', schema: { openAPIV3Schema: { type: 'object' } }, subresources: { scale: {} } },
        ],
      },
    });
    const before = structuredClone(given);
    const [version] = versionsOf(withExternalFields(given));
    expect(version?.subresources).to.deep.equal({ status: {}, scale: {} });
    expect(version?.schema.openAPIV3Schema.properties['spec']).to.have.property('type', 'object');
    expect(given).to.deep.equal(before);
  });
});
