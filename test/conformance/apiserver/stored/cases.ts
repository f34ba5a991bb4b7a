/**
 * Objects of all built-in kinds for comparing what servers store: per kind a small and a full one, and both with each of
 * their members empty, null or set. They follow from the schemas, so a new field gets its cases without a change here.
 */
import { kindsData, REF } from '../../../../src/apiserver/kinds/schemas.ts';
import { builtInKinds } from '../../../../src/apiserver/kinds/catalogue.ts';
import type { Kind } from '../../../../src/apiserver/kinds/kinds.ts';
import type { JsonSchema } from '../../../../src/apiserver/schema/types.ts';
import type { Json } from '../subject.ts';
import { otherBases } from './other-bases.ts';
import { workloadBases } from './workload-bases.ts';

export interface Case {
  /** Unique within the kind: `full`, or `full spec.ports[0].name empty`. */
  readonly name: string;
  readonly object: Json;
}

const BASES: Readonly<Record<string, readonly [minimal: Json, full: Json]>> = {
  ...workloadBases,
  ...otherBases,
};

/** The kinds that are stored. */
export const storedKinds = (): Kind[] => builtInKinds(new Map()).filter(({ virtual }) => !virtual);

/** @throws Error for a kind without objects, so that a new kind is not forgotten */
export function casesOf(kind: Kind): Case[] {
  const bases = BASES[`${kind.apiVersion}/${kind.kind}`];
  const name = kindsData().nameOf(kind.group, kind.version, kind.kind);
  const schema = name === undefined ? undefined : kindsData().schemas[name];
  if (!bases || !schema)
    throw new Error(`there are no objects of ${kind.apiVersion}/${kind.kind} to compare`);
  return bases.flatMap((object, i) => {
    const base = ['minimal', 'full'][i] ?? '';
    return [
      { name: base, object },
      ...changesOf(object, schema, name ?? '').map((c) => ({ ...c, name: `${base} ${c.name}` })),
    ];
  });
}

/** Types that several kinds contain, and the kinds whose objects have them changed. */
const SKIPPED = new Set(['io.k8s.api.core.v1.PodSpec', 'io.k8s.api.core.v1.PersistentVolumeSpec']);
const isMain = (type: string): boolean => /\.(?:Pod|Deployment|PersistentVolume)$/.test(type);

const ROOT = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Copies of an object with one member changed; each member of a type is changed in one place only. */
function changesOf(root: Json, schema: JsonSchema, type: string): Case[] {
  const cases: Case[] = [];
  const tried = new Set<string>();
  const add = (id: string, path: readonly string[], what: string, value: unknown): void => {
    if (tried.has(`${id} ${what}`)) return;
    tried.add(`${id} ${what}`);
    const object = structuredClone(root);
    const parent = path.slice(0, -1).reduce((at, key) => at[key], object);
    const last = path[path.length - 1] ?? '';
    parent[last] = value;
    cases.push({ name: `${path.join('.')} ${what}`, object });
  };
  const walk = (value: Json, { schema, name }: Resolved, path: readonly string[]): void => {
    for (const [member, raw] of Object.entries(schema.properties ?? {})) {
      if (path.length === 0 && ROOT.has(member) && schema.properties?.['spec'] !== undefined) continue;
      const property = resolve(raw, `${name}.${member}`);
      const here = [...path, member];
      const id = `${name}.${member}`;
      for (const [i, empty] of emptyOf(property).entries())
        add(id, here, i === 0 ? 'empty' : 'empty text', empty);
      if (value[member] === undefined) {
        for (const some of someOf(property)) add(id, here, 'set', some);
        continue;
      }
      add(id, here, 'null', null);
      visit(value[member], property, here);
    }
  };
  const visit = (value: Json, property: Resolved, path: readonly string[]): void => {
    const { items, additionalProperties: values } = property.schema;
    if (SKIPPED.has(property.name) && !isMain(type)) return;
    if (property.schema.properties) walk(value, property, path);
    else if (Array.isArray(value) && items)
      value.forEach((item, i) => {
        visit(item, resolve(items, property.name), [...path, String(i)]);
      });
    else if (typeof values === 'object' && typeof value === 'object')
      for (const [key, item] of Object.entries(value))
        visit(item, resolve(values, property.name), [...path, key]);
  };
  walk(root, { schema, name: type }, []);
  return cases;
}

interface Resolved {
  readonly schema: JsonSchema;
  /** Of its type, or of the member that contains it. */
  readonly name: string;
}

function resolve(raw: JsonSchema, member: string): Resolved {
  const name = (raw.$ref ?? raw.allOf?.[0]?.$ref)?.slice(REF.length);
  return name === undefined
    ? { schema: raw, name: member }
    : { schema: kindsData().schemas[name] ?? {}, name };
}

function emptyOf({ schema, name }: Resolved): readonly unknown[] {
  if (name.endsWith('.Quantity')) return ['0'];
  if (schema.format === 'int-or-string') return [0, ''];
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? [] : [''];
    case 'integer':
    case 'number':
      return [0];
    case 'boolean':
      return [false];
    case 'array':
      return [[]];
    case 'object':
      return [{}];
    default:
      return [];
  }
}

/** A value that is not empty. Most strings are refused, but what is stored of the others shows which members are dropped. */
function someOf({ schema, name }: Resolved): readonly unknown[] {
  if (name.endsWith('.Quantity')) return ['1'];
  if (schema.format === 'int-or-string') return [1];
  switch (schema.type) {
    case 'string':
      return [
        schema.format === 'date-time' ? '2024-01-01T00:00:00Z' : schema.format === 'byte' ? 'YQ==' : 'x',
      ];
    case 'integer':
    case 'number':
      return [1];
    case 'boolean':
      return [true];
    case 'array':
      return schema.items ? [someOf(resolve(schema.items, name)).slice(0, 1)] : [];
    case 'object':
      if (schema.properties) return [{}];
      return typeof schema.additionalProperties === 'object'
        ? someOf(resolve(schema.additionalProperties, name)).map((value) => ({ a: value }))
        : [];
    default:
      return schema.properties ? [{}] : [];
  }
}

/** Statuses of a kind, with each member of each type set and empty. */
export function statusCasesOf(kind: Kind): Case[] {
  const name = kindsData().nameOf(kind.group, kind.version, kind.kind) ?? '';
  const status = kindsData().schemas[name]?.properties?.['status'];
  if (!status) return [];
  const { schema, name: type } = resolve(status, `${name}.status`);
  return [{ name: 'empty', object: {} }, ...changesOf({}, schema, type)];
}

const port = { name: 'a', port: 80 };

/** Specs of services of all types, for changes from each to each. */
export const SERVICES: Readonly<Record<string, Json>> = {
  ClusterIP: { type: 'ClusterIP', ports: [port], selector: { a: 'b' } },
  external: { type: 'ClusterIP', ports: [port], selector: { a: 'b' }, externalIPs: ['1.2.3.4'] },
  headless: { type: 'ClusterIP', ports: [port], selector: { a: 'b' }, clusterIP: 'None' },
  open: { type: 'ClusterIP', ports: [port], clusterIP: 'None' },
  sticky: { type: 'ClusterIP', ports: [port], selector: { a: 'b' }, sessionAffinity: 'ClientIP' },
  NodePort: { type: 'NodePort', ports: [port], selector: { a: 'b' } },
  LoadBalancer: { type: 'LoadBalancer', ports: [port], selector: { a: 'b' }, loadBalancerClass: 'x.io/y' },
  local: { type: 'LoadBalancer', ports: [port], selector: { a: 'b' }, externalTrafficPolicy: 'Local' },
  bare: { type: 'LoadBalancer', ports: [port], allocateLoadBalancerNodePorts: false },
  ExternalName: { type: 'ExternalName', externalName: 'a.b' },
};
