/** The served kinds: one `Kind` per group, version and resource, built in or from a CustomResourceDefinition. */
import type { FieldError, KubeObject, UserInfo } from '../types.ts';
import type { CompiledSchema } from '../schema/schema.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  /** For custom kinds: the path of the cell's value. */
  readonly jsonPath?: string;
}

export interface ScalePaths {
  readonly spec: string;
  readonly status: string;
  readonly labelSelector?: string;
}

/** The functions that strategies may use. */
export interface StrategyContext {
  readonly user: UserInfo;
  readonly now: string;
  /** A number in [0, 1). */
  random(): number;
  /** Objects of another resource, for example to allocate a unique value. */
  all(resource: string): Iterable<KubeObject>;
}

/** Rules of a kind that schemas cannot express. All functions modify objects in place and do no I/O. */
export interface Strategy {
  /** Called for every write, before validation. */
  defaults?(object: KubeObject): void;
  /** Called on create, after defaults: sets fields that only the server decides. */
  prepareForCreate?(object: KubeObject, context: StrategyContext): void;
  /** On update, after defaults: copies fields from the old object. */
  prepareForUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): void;
  validate?(object: KubeObject): FieldError[];
  validateUpdate?(object: KubeObject, old: KubeObject): FieldError[];
}

export type NameRule = 'subdomain' | 'label' | 'label1035' | 'path';

/**
 * Converts objects to an apiVersion by a webhook.
 * @throws ApiError 500 when the webhook fails, or its response is invalid
 */
export type Convert = (objects: readonly KubeObject[], apiVersion: string) => Promise<readonly KubeObject[]>;

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly builtIn: boolean;
  /** `group/plural` of the objects in the store; two served kinds may show the same objects. */
  readonly resource: string;
  /** apiVersion of the stored form. */
  readonly storageVersion: string;
  readonly apiVersion: string;
  /** Virtual kinds store nothing and support only create. */
  readonly virtual: boolean;
  readonly status: boolean;
  readonly scale?: ScalePaths;
  readonly subresources: readonly string[];
  readonly verbs: readonly string[];
  readonly generation: boolean;
  readonly unconditionalUpdate: boolean;
  readonly createOnUpdate: boolean;
  /** Whether DELETE answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly defaultPolicy: 'Background' | 'Orphan' | 'None';
  readonly nameRule: NameRule;
  readonly columns: readonly Column[];
  readonly strategy?: Strategy;
  readonly schema?: CompiledSchema;
  /** The raw OpenAPI schema, for discovery documents and apply. */
  readonly openapi?: Readonly<Record<string, unknown>>;
  readonly selectableFields: readonly string[];
  readonly deprecationWarning?: string;
  /** The versions of a custom kind by apiVersion, also those that are not served. */
  readonly versions?: (apiVersion: string) => Kind | undefined;
  /** Present if the versions of the kind are converted by a webhook. */
  readonly webhook?: Convert;
  /** Converts from and to the stored form, if they differ in more than the version. */
  readonly convert?: {
    fromStorage(object: KubeObject): KubeObject;
    toStorage(object: KubeObject): KubeObject;
  };
}

interface GroupVersions {
  readonly group: string;
  readonly versions: readonly string[];
}

/** The kinds that are currently served. Custom kinds can be added and removed. */
export class Registry {
  readonly #kinds = new Map<string, Kind>();
  readonly #builtInGroups = new Set<string>();
  /** Incremented with every change of the kinds; derived documents compare it. */
  revision = 0;
  readonly listeners = new Set<(kind: Kind, present: boolean) => void>();

  add(kind: Kind): void {
    this.#kinds.set(id(kind.group, kind.version, kind.plural), kind);
    if (kind.builtIn) this.#builtInGroups.add(kind.group);
    this.revision++;
    for (const listener of this.listeners) listener(kind, true);
  }

  remove(kind: Kind): void {
    if (!this.#kinds.delete(id(kind.group, kind.version, kind.plural))) return;
    this.revision++;
    for (const listener of this.listeners) listener(kind, false);
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#kinds.get(id(group, version, plural));
  }

  /** The served kind of an object, by kind instead of resource. */
  findByKind(apiVersion: string, kind: string): Kind | undefined {
    for (const candidate of this.#kinds.values())
      if (candidate.kind === kind && candidate.apiVersion === apiVersion) return candidate;
    return undefined;
  }

  /** Any served kind of a group, for references without a usable version. */
  findByGroupKind(group: string, kind: string): Kind | undefined {
    for (const candidate of this.#kinds.values())
      if (candidate.kind === kind && candidate.group === group && !candidate.virtual) return candidate;
    return undefined;
  }

  /** One served kind per stored resource. */
  stored(): Kind[] {
    const seen = new Map<string, Kind>();
    for (const kind of this.#kinds.values())
      if (!kind.virtual && (!seen.has(kind.resource) || kind.apiVersion === kind.storageVersion))
        seen.set(kind.resource, kind);
    return [...seen.values()];
  }

  byResource(resource: string): Kind | undefined {
    let found: Kind | undefined;
    for (const kind of this.#kinds.values())
      if (kind.resource === resource && !kind.virtual && (!found || kind.apiVersion === kind.storageVersion))
        found = kind;
    return found;
  }

  isBuiltInGroup(group: string): boolean {
    return this.#builtInGroups.has(group);
  }

  all(): Kind[] {
    return [...this.#kinds.values()];
  }

  /** Built-in groups in their fixed order, then custom groups by name; versions by rank. */
  groups(): GroupVersions[] {
    const groups = new Map<string, Set<string>>();
    for (const group of this.#builtInGroups) groups.set(group, new Set());
    const custom = [...new Set(this.all().map((k) => k.group))]
      .filter((g) => !this.#builtInGroups.has(g))
      .sort();
    for (const group of custom) groups.set(group, new Set());
    for (const kind of this.#kinds.values()) groups.get(kind.group)?.add(kind.version);
    return [...groups].map(([group, versions]) => ({ group, versions: [...versions].sort(byVersionRank) }));
  }

  inVersion(group: string, version: string): Kind[] {
    return this.all()
      .filter((k) => k.group === group && k.version === version)
      .sort((a, b) => (a.plural < b.plural ? -1 : 1));
  }
}

const id = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STAGES = { alpha: 0, beta: 1, ga: 2 } as const;

/** Order of versions in discovery: stable, beta, alpha, each from high to low; others by name. */
export function byVersionRank(a: string, b: string): number {
  const left = VERSION.exec(a);
  const right = VERSION.exec(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const stage = (m: RegExpExecArray): number => STAGES[(m[2] ?? 'ga') as keyof typeof STAGES];
  return (
    stage(right) - stage(left) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}
