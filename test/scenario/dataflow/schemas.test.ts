/** JSON schemas of imports, and their references. References to components: components.test.ts. */
import { expect } from 'chai';
import { useCluster } from '../../support/cluster.ts';
import {
  data,
  fails,
  keepingImports,
  kept,
  secret,
  succeeds,
  takes,
  TEXT,
  type Given,
} from '../../support/dataflow.ts';
import { dataObject } from '../../support/landscape.ts';

const HOST = { $ref: 'blueprint://schemas/db.json#/definitions/host' };
const files = { schemas: { 'db.json': JSON.stringify({ definitions: { host: TEXT } }) } };

/** An import with this schema and value. */
const checked = (schema: unknown, value: unknown, { localTypes = {} } = {}): Given => ({
  bp: { localTypes, imports: [data('v', schema)], ...keepingImports },
  files,
  spec: takes('v'),
  objects: [dataObject('v', value)],
});

describe('the schema of an import', () => {
  const here = useCluster();

  const port = { localTypes: { port: { type: 'integer', maximum: 65535 } } };
  const circle = { localTypes: { a: { $ref: 'local://b' }, b: { $ref: 'local://a' } } };
  const failures: readonly [title: string, given: Given, ...messages: string[]][] = [
    [
      'DF-17: may refer to a type of the blueprint, which its value has to match',
      checked({ $ref: 'local://port' }, 70000, port),
      'shop.v: imported datatype does not have the expected schema',
      'Must be less than or equal to 65535',
    ],
    [
      'DF-18: cannot refer to a type that the blueprint does not have',
      checked({ $ref: 'local://nope' }, 1),
      'validator creation failed',
      'type nope is not defined in local types',
    ],
    [
      'DF-19: may refer to a file of the blueprint, which its value has to match',
      checked(HOST, 5),
      'Expected: string, given: integer',
    ],
    [
      'DF-20: cannot be cyclic, with or without a component',
      checked({ $ref: 'local://a' }, 1, circle),
      'cyclic references detected: reference "local://a" is part of a cycle',
    ],
    [
      'DF-21: is never fetched',
      checked({ $ref: 'http://127.0.0.1:1/s.json' }, 1),
      '"http://127.0.0.1:1/s.json" would have to be fetched, which is not supported',
    ],
    [
      'may be of a newer draft if it names it',
      checked({ $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [TEXT] }, [5]),
      '0: Invalid type. Expected: string, given: integer',
    ],
  ];
  for (const [title, given, ...messages] of failures) {
    it(title, async () => {
      const { error } = await fails(here, given);
      for (const message of messages) expect(error.message).to.contain(message);
      expect(error.message).to.contain('Reason: ConstructImports');
    });
  }

  it('DF-17: accepts a value that matches the type of the blueprint', async () => {
    const scene = await succeeds(here, checked({ $ref: 'local://port' }, 80, port));
    expect(kept(scene)).to.deep.equal({ v: 80 });
  });

  it('DF-19: accepts a value that matches the file', async () => {
    expect(kept(await succeeds(here, checked(HOST, 'db')))).to.deep.equal({ v: 'db' });
  });

  it('rejects a secret that does not match, without repeating its values', async () => {
    const { error, self } = await fails(here, {
      bp: {
        imports: [
          data('v', { type: 'object', properties: { port: { type: 'integer' } }, required: ['user'] }),
        ],
      },
      spec: { imports: { data: [{ name: 'v', secretRef: { name: 's' } }] } },
      objects: [secret('s', { port: 's3cr3t' })],
    });
    expect(error.message).to.contain('port: Invalid type. Expected: integer, given: string');
    expect(error.message).to.contain('(root): user is required');
    expect(JSON.stringify(self)).not.to.contain('s3cr3t');
  });
});
