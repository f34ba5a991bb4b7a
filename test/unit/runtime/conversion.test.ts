/** Conversions between versions: the functions, the reviews of API servers, and the check of the test kit. */
import { expect } from 'chai';
import { conversion, crd, type Backup } from '../../../docs/samples/operators/backup/kind.ts';
import { conversionOf, ConversionError } from '../../../src/runtime/conversion/conversion.ts';
import { withRequiredFields } from '../../../src/runtime/conversion/incomplete.ts';
import { answerReview } from '../../../src/runtime/conversion/review.ts';
import { ServedConversion } from '../../../src/runtime/conversion/served.ts';
import { DefinitionError } from '../../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { checkConversion, ConversionFailure, SampleError } from '../../../src/testing/index.ts';

interface Sized extends Obj {
  spec: { size: number };
}
interface Named extends Obj {
  spec: { size: string };
}

const kindAt = <T extends Obj>(version: string): Kind<T> => ({
  group: 'example.io',
  version,
  kind: 'Box',
  plural: 'boxes',
  namespaced: true,
});
const toNumber = ({ spec }: { readonly spec: { readonly size: string } }) => ({
  spec: { size: Number(spec.size) },
});
const toText = ({ spec }: { readonly spec: { readonly size: number } }) => ({
  spec: { size: String(spec.size) },
});
const boxes = conversionOf<Sized>(kindAt('v2'))
  .spoke<Named>(kindAt('v1'), { toHub: toNumber, fromHub: toText })
  .spoke<Sized>(kindAt('v3'), {
    toHub: ({ spec }) => ({ spec: { size: spec.size - 1 } }),
    fromHub: ({ spec }) => ({ metadata: { labels: { big: 'yes' } }, spec: { size: spec.size + 1 } }),
  });
const metadata = { namespace: 'a', name: 'b', uid: 'u', labels: { x: 'y' }, annotations: { n: 'm' } };
const box = (version: string, size: unknown, more: object = {}) => ({
  apiVersion: `example.io/${version}`,
  kind: 'Box',
  metadata: { ...metadata, ...more },
  spec: { size },
});

interface Listed extends Obj {
  status?: { conditions?: { type: string }[] };
}
// Compiles: what is passed on from the read-only object may be a list.
conversionOf<Listed>(kindAt('v2')).spoke<Listed>(kindAt('v1'), {
  toHub: ({ status }) => ({ ...(status && { status }) }),
  fromHub: ({ status }) => ({ ...(status && { status }) }),
});

describe('a conversion', () => {
  it('goes to the hub, from the hub, and between others over the hub', () => {
    expect(boxes.convert(box('v1', '3'), 'example.io/v2')).to.deep.equal(box('v2', 3));
    expect(boxes.convert(box('v2', 3), 'example.io/v1')).to.deep.equal(box('v1', '3'));
    const labels = { labels: { big: 'yes' }, annotations: undefined };
    const expected = JSON.parse(JSON.stringify(box('v3', 4, labels))) as object;
    expect(boxes.convert(box('v1', '3'), 'example.io/v3')).to.deep.equal(expected);
  });

  it('leaves an object of the version as it is', () => {
    expect(boxes.convert(box('v1', '3'), 'example.io/v1')).to.deep.equal(box('v1', '3'));
  });

  it('knows its versions, first the hub', () => {
    expect(boxes.versions).to.deep.equal(['v2', 'v1', 'v3']);
  });

  it('refuses versions without functions', () => {
    const message = 'Box has no version example.io/v9; it has v2, v1, v3 of example.io';
    expect(() => boxes.convert(box('v2', 3), 'example.io/v9')).to.throw(ConversionError, message);
    expect(() => boxes.convert(box('v9', 3), 'example.io/v2')).to.throw(ConversionError, message);
    expect(() => boxes.convert(box('v2', 3), 'other.io/v1')).to.throw(ConversionError);
  });

  it('cannot have a version twice, or another kind', () => {
    const functions = { toHub: toNumber, fromHub: toText };
    expect(() => boxes.spoke<Named>(kindAt('v1'), functions)).to.throw(
      DefinitionError,
      'version v1 more than once',
    );
    expect(() => boxes.spoke<Named>({ ...kindAt('v4'), kind: 'Bag' }, functions)).to.throw(
      DefinitionError,
      'Bag of example.io/v4 is not a version of Box',
    );
  });
});

describe('the review of a conversion', () => {
  const review = (objects: unknown, apiVersion = 'example.io/v2') => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: '7', desiredAPIVersion: apiVersion, objects },
  });
  const answer = (objects: unknown, apiVersion?: string) =>
    (
      answerReview(boxes, JSON.stringify(review(objects, apiVersion))).body as {
        response: Record<string, unknown>;
      }
    ).response;

  it('contains all objects in their order', () => {
    expect(answer([box('v1', '3'), box('v2', 4), box('v3', 6)])).to.deep.equal({
      uid: '7',
      result: { status: 'Success' },
      convertedObjects: [box('v2', 3), box('v2', 4), box('v2', 5)],
    });
  });

  it('contains none if one cannot be converted, and says which', () => {
    const broken = { ...box('v1', '3'), spec: undefined };
    const { result, convertedObjects } = answer([box('v1', '3'), broken]);
    expect(convertedObjects).to.equal(undefined);
    expect((result as { message: string }).message).to.match(
      /^cannot convert Box a\/b from example.io\/v1 to example.io\/v2: /,
    );
    expect(answer(['text'])['result']).to.deep.equal({
      status: 'Failure',
      message: 'an object has no metadata',
    });
  });

  for (const body of [undefined, 'text', {}, { request: { uid: 1 } }, review('none')])
    it(`must be one, not ${JSON.stringify(body)}`, () => {
      expect(answerReview(boxes, JSON.stringify(body)).code).to.equal(400);
    });
});

describe('a conversion of an object without required fields', () => {
  const { spec: _spec, ...bare } = box('v1', '');
  const size = (openAPIV3Schema: object) => ({
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema } }] },
  });
  const required = (type: string, more: object = {}) => ({
    required: ['spec'],
    properties: { spec: { required: ['size'], properties: { size: { type, ...more } } } },
  });

  it('gets empty values, or defaults', () => {
    const served = new ServedConversion(boxes);
    served.learn(size(required('string')));
    expect(served.convert(bare, 'example.io/v2')).to.deep.equal(box('v2', 0));
    served.learn(size(required('string', { default: '4' })));
    expect(served.convert(bare, 'example.io/v2')).to.deep.equal(box('v2', 4));
    served.learn(size(required('string', { enum: ['5', '6'] })));
    expect(served.convert(bare, 'example.io/v2')).to.deep.equal(box('v2', 5));
  });

  it('fails as before if nothing is missing, or the schema is not known', () => {
    const served = new ServedConversion(boxes);
    expect(() => served.convert(bare, 'example.io/v2')).to.throw(TypeError);
    served.learn(size({ type: 'object' }));
    expect(() => served.convert(bare, 'example.io/v2')).to.throw(TypeError);
  });

  it('completes items of lists and values of maps, and copies nothing else', () => {
    const entry = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
    const schema = {
      properties: { list: { items: entry }, map: { additionalProperties: entry }, rest: { type: 'object' } },
    };
    const rest = { any: [1] };
    const value = { list: [{ n: 1 }, {}], map: { a: {} }, rest };
    const result = withRequiredFields(schema, value) as typeof value;
    expect(result).to.deep.equal({ list: [{ n: 1 }, { n: 0 }], map: { a: { n: 0 } }, rest });
    expect([result.rest, result.list[0]]).to.satisfy(
      ([kept, first]: unknown[]) => kept === rest && first === value.list[0],
    );
    expect(withRequiredFields(schema, result)).to.equal(result);
  });
});

describe('the check of a conversion', () => {
  const crdWith = (sizes: Readonly<Record<string, object>>) => ({
    spec: {
      versions: Object.entries(sizes).map(([name, size]) => ({
        name,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', required: ['size'], properties: { size } } },
            required: ['spec'],
          },
        },
      })),
    },
  });
  const digits = { type: 'string', pattern: '^[0-9]+$' };
  const sample = (object: Obj, version: string) =>
    version === 'v1' ? { ...object, spec: { size: String((object.metadata.name.length * 7) % 10) } } : object;
  const pair = (more: Partial<Parameters<typeof checkConversion>[0]> = {}) =>
    checkConversion({
      conversion: boxes,
      crd: crdWith({ v1: { type: 'string' }, v2: { type: 'integer' } }),
      sample,
      ...more,
    });

  it('passes for the sample, in which an annotation keeps what a version cannot express', () => {
    expect(checkConversion({ conversion, crd, samples: 100 })).to.equal(200);
  });

  it('passes with values of the author', () => {
    expect(pair({ samples: 20 })).to.equal(40);
  });

  it('finds a value that is lost', () => {
    const lossy = conversionOf<Backup>(conversion.hub).spoke(
      { ...conversion.hub, version: 'v1alpha1' },
      {
        toHub: (object) => conversion.convert(object, 'backup.example.org/v1') as Backup,
        fromHub: (object) => {
          const { spec } = conversion.convert(object, 'backup.example.org/v1alpha1') as Obj & {
            spec: { hour: number };
          };
          return { spec: { hour: spec.hour } } as never;
        },
      },
    );
    expect(() => checkConversion({ conversion: lossy, crd })).to.throw(
      ConversionFailure,
      'changes the object',
    );
  });

  it('finds a result that is invalid, or has unknown fields', () => {
    const crdSmall = crdWith({ v1: { type: 'string', maxLength: 1 }, v2: { type: 'integer', minimum: 10 } });
    expect(() => pair({ crd: crdSmall })).to.throw(ConversionFailure, 'is invalid: spec.size');
    const unknown = conversionOf<Sized>(kindAt('v2')).spoke<Named>(kindAt('v1'), {
      toHub: (object) => ({ spec: { ...toNumber(object).spec, extra: 1 } as never }),
      fromHub: toText,
    });
    expect(() => pair({ conversion: unknown })).to.throw(
      ConversionFailure,
      'has fields that example.io/v2 does not have: spec.extra',
    );
  });

  it('reports functions that throw, and versions that are missing', () => {
    const broken = conversionOf<Sized>(kindAt('v2')).spoke<Named>(kindAt('v1'), {
      toHub: () => {
        throw new Error('not today');
      },
      fromHub: toText,
    });
    expect(() => pair({ conversion: broken })).to.throw(ConversionFailure, 'failed: not today');
    expect(() => pair({ conversion: conversionOf<Sized>(kindAt('v2')) })).to.throw(
      ConversionFailure,
      'does not have version v1',
    );
  });

  it('reports functions that throw for an object with empty values', () => {
    const picky = conversionOf<Sized>(kindAt('v2')).spoke<Named>(kindAt('v1'), {
      toHub: (object) => {
        if (object.spec.size === '') throw new Error('no size');
        return toNumber(object);
      },
      fromHub: toText,
    });
    expect(() => pair({ conversion: picky })).to.throw(
      ConversionFailure,
      'Box example.io/v1 → example.io/v2 failed for an object with empty values: no size',
    );
  });

  it('says which values it cannot invent', () => {
    const message =
      'spec.size has the pattern ^[0-9]+$, for which no value can be generated; set it with "sample"';
    const crdDigits = crdWith({ v1: digits, v2: { type: 'integer' } });
    expect(() => checkConversion({ conversion: boxes, crd: crdDigits })).to.throw(SampleError, message);
  });

  it('takes the values that the author sets instead', () => {
    const crdDigits = crdWith({ v1: digits, v2: { type: 'integer' } });
    const sample = (object: Obj, version: string): Obj =>
      version === 'v1' ? ({ ...object, spec: { size: '7' } } as Obj) : object;
    expect(checkConversion({ conversion: boxes, crd: crdDigits, sample })).to.be.greaterThan(0);
    const unchanged = (object: Obj): Obj => object;
    expect(() => checkConversion({ conversion: boxes, crd: crdDigits, sample: unchanged })).to.throw(
      ConversionFailure,
      /no valid Box .*set the values with "sample": spec\.size/,
    );
  });
});
