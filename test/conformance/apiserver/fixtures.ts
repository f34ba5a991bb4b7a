/** Objects that many scenarios use. */
import type { Json } from './subject.ts';

export const cm = (name: string, more: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...more.metadata },
  data: more.data ?? { a: '1' },
  ...(more.immutable === undefined ? {} : { immutable: more.immutable }),
});

export const deployment = (name: string, more: Json = {}): Json => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...more.metadata },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'nginx:1' }] },
    },
    ...more.spec,
  },
});

/** The definition of widgets, with a separate group for each caller. */
export const widgetCrd = (group: string, more: Json = {}): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [{ ...widgetVersion, ...more.version }],
    ...more.spec,
  },
});

export const widgetVersion: Json = {
  name: 'v1',
  served: true,
  storage: true,
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Num', type: 'integer', jsonPath: '.spec.num', priority: 1 },
  ],
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          required: ['foo'],
          properties: {
            foo: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
            num: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
            replicas: { type: 'integer', minimum: 0 },
            mode: { type: 'string', enum: ['A', 'B'], default: 'A' },
            ios: { 'x-kubernetes-int-or-string': true },
            list: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
            set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
            lm: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['k'],
              items: {
                type: 'object',
                required: ['k'],
                properties: { k: { type: 'string' }, v: { type: 'string' } },
              },
            },
            map: { type: 'object', maxProperties: 2, additionalProperties: { type: 'integer' } },
            any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            nul: { type: 'string', nullable: true },
            date: { type: 'string', format: 'date-time' },
            defobj: { type: 'object', default: {}, properties: { x: { type: 'integer', default: 7 } } },
          },
        },
        status: {
          type: 'object',
          properties: {
            phase: { type: 'string' },
            replicas: { type: 'integer' },
            selector: { type: 'string' },
          },
        },
      },
    },
  },
};

export const widget = (group: string, name: string, spec: Json = {}, metadata: Json = {}): Json => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec: { foo: 'abc', ...spec },
});

export const conditionOf = (object: Json, type: string): Json =>
  object?.status?.conditions?.find((c: Json) => c.type === type);
