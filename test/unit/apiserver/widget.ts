/** The custom kind of the conformance scenarios: one field of each type. */
import type { JsonSchema } from '../../../src/apiserver/schema/schema.ts';

const text: JsonSchema = { type: 'string' };
const either = { a: text, b: text };

export const widgetSchema: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['foo'],
      properties: {
        foo: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
        num: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
        mode: { type: 'string', enum: ['A', 'B'], default: 'A' },
        ios: { 'x-kubernetes-int-or-string': true },
        list: { type: 'array', minItems: 1, maxItems: 2, items: text },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        lm: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: {
            type: 'object',
            required: ['k'],
            properties: { k: text, v: { type: 'integer', default: 1 } },
          },
        },
        map: { type: 'object', maxProperties: 2, additionalProperties: { type: 'integer' } },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { k: text } },
        emb: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        nul: { type: 'string', nullable: true },
        date: { type: 'string', format: 'date-time' },
        defobj: { type: 'object', default: {}, properties: { x: { type: 'integer', default: 7 } } },
        ex: { type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true },
        mult: { type: 'integer', multipleOf: 2 },
        oneof: { type: 'object', properties: either, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
        objs: {
          type: 'array',
          items: { type: 'object', required: ['n'], properties: { n: { type: 'string', maxLength: 3 } } },
        },
      },
    },
    status: { type: 'object', properties: { phase: text, num: { type: 'integer' } } },
  },
};
