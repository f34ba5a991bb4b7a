/** What the console's server sends to the browser. Types only: the client imports this file as well. */

export type Condition = 'succeeded' | 'failed' | 'running' | 'waiting';

/** One root installation in the list. Times are milliseconds since 1970. */
export interface LandscapeRow {
  /** `namespace/name`. */
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly condition: Condition;
  readonly marks: readonly string[];
  /** The first cause of a failure or a wait, on one line; empty if there is none. */
  readonly note: string;
  readonly createdAt?: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Objects below the root, without those on targets, and how many of them have failed or are running. */
  readonly parts: number;
  readonly failed: number;
  readonly running: number;
}

type PartKind = 'Installation' | 'Execution' | 'DeployItem' | 'Object';

/** One object of a landscape: the root, an object below it, or an object on a target. */
export interface Part {
  /** Kind, namespace and name; for an object on a target, those of its deploy item and its own. */
  readonly id: string;
  /** The id of the object above; empty for the root. */
  readonly parent: string;
  /** Position among the siblings. */
  readonly at: number;
  readonly kind: PartKind;
  readonly namespace: string;
  readonly name: string;
  readonly title: string;
  readonly phase: string;
  /** Absent for objects on targets, whose state the provider status does not contain. */
  readonly condition?: Condition;
  readonly marks: readonly string[];
  readonly note: string;
  readonly warnings: readonly string[];
  readonly createdAt?: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Names and short values, such as the type of a deploy item. Never a value of a data object or a secret. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly why?: Why;
  /** Whether it is a pod on a target, or creates pods there. */
  readonly hasPods?: true;
}

/** Why an object is not ready. */
export interface Why {
  /** What is the matter, in the words of the status. */
  readonly summary: string;
  readonly since?: number;
  /** The objects that hold it. */
  readonly holders: readonly Holder[];
  /** Next steps, each a sentence. */
  readonly next: readonly string[];
}

export interface Holder {
  /** The part; absent if it is not a part of this landscape, such as a finalizer. */
  readonly id?: string;
  readonly text: string;
}

/**
 * Events of `/api/events`: first a snapshot, then changes. If one has many items, events with the name `items` precede it,
 * with the first of them.
 */
export interface Snapshot<T> {
  readonly items: readonly T[];
}
export interface Changes<T> {
  readonly set: readonly T[];
  readonly gone: readonly string[];
}
/** Sent regularly, so that both sides notice a broken connection. */
export interface Health {
  /** Why the watches of the API server are not healthy; empty if they are. */
  readonly problem: string;
}

/** How a session starts: with the printed link, or with a bearer token of Kubernetes that the user enters. */
export type Login = 'link' | 'token';

/** What the page has to know before there is a session. */
export interface LoginInfo {
  readonly login: Login;
}

/** Facts about the server, the cluster and the viewer. */
export interface About {
  readonly version: string;
  /** Address of the API server. */
  readonly server: string;
  /** The namespaces whose installations are shown. */
  readonly namespaces: 'all' | readonly string[];
  /** Name of the user in the cluster; empty for the user of the kubeconfig. */
  readonly user: string;
}

export interface FlowNode {
  readonly id: string;
  readonly label: string;
  readonly phase: string;
  readonly condition: Condition;
  /** `namespace/name` of the landscape; a link. */
  readonly landscape: string;
}

/** Which installations import from which others: names only, never values. */
export interface Flow {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly names: readonly string[];
  }[];
  /** Installations that are not drawn because the graph would be too large. */
  readonly omitted: number;
  /** Installations that neither import from nor export to another one shown here. */
  readonly unconnected: number;
}

export interface JobSummary {
  readonly number: number;
  readonly jobID: string;
  readonly reason: string;
  readonly result: string;
  readonly changes: string;
  readonly triggeredAt?: number;
  readonly endedAt?: number;
}

export interface JobList {
  readonly jobs: readonly JobSummary[];
  /** Why no jobs are recorded; empty if they are. */
  readonly problem: string;
}

export interface TimelineRow {
  readonly kind: string;
  readonly title: string;
  readonly depth: number;
  readonly phase: string;
  readonly triggeredAt?: number;
  readonly waitedAt?: number;
  readonly endedAt?: number;
  readonly waitedFor: readonly string[];
  readonly error: string;
}

export interface Timeline extends JobSummary {
  readonly rows: readonly TimelineRow[];
}

export interface EventRow {
  /** The id of the part that it is about. */
  readonly part: string;
  /** Kind and name of the part. */
  readonly object: string;
  /** Normal or Warning. */
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** When it happened last. */
  readonly time?: number;
}

export interface EventList {
  readonly events: readonly EventRow[];
  /** Whether there are no others. */
  readonly isComplete: boolean;
}

export type ContainerType = 'init' | 'container' | 'ephemeral';

export interface ContainerRow {
  readonly name: string;
  readonly type: ContainerType;
  readonly state: 'waiting' | 'running' | 'terminated';
  /** Such as CrashLoopBackOff, or how it ended. */
  readonly reason: string;
  readonly message: string;
  /** How it ended before its last restart; empty if it was not restarted. */
  readonly lastEnd: string;
  readonly restarts: number;
  readonly isReady: boolean;
  /** Whether there can be a log. */
  readonly hasStarted: boolean;
  /** When the state began. */
  readonly since?: number;
}

export interface PodRow {
  readonly name: string;
  readonly namespace: string;
  /** The word that kubectl shows. */
  readonly status: string;
  readonly isHealthy: boolean;
  /** `1/2` */
  readonly ready: string;
  readonly restarts: number;
  readonly node: string;
  readonly message: string;
  readonly createdAt?: number;
  readonly containers: readonly ContainerRow[];
}

export interface PodEvents {
  /** The latest first. `part` is empty: pods are not parts. */
  readonly events: readonly EventRow[];
  readonly hasAllEvents: boolean;
  /** Why events are missing; empty if they are not. */
  readonly eventsProblem: string;
}

/** The pods of an object on a target. */
export interface PodList extends PodEvents {
  readonly pods: readonly PodRow[];
  /** Number of further pods. */
  readonly omitted: number;
}

/** A piece of a log. */
export interface LogLines {
  readonly lines: readonly string[];
  /** Stamp of the last line; requests for the next lines contain it. Empty if there are no lines. */
  readonly last: string;
  /** Whether there is more after these lines. */
  readonly isCut: boolean;
  /** Whether lines before these could not be read. */
  readonly hasGap: boolean;
}

/** A field that differs: in the live object, and in the one that the job would write. Secrets are masked. */
export interface PlannedField {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface PlannedObject {
  readonly change: 'create' | 'change' | 'delete' | 'unchanged' | 'kept';
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly note?: string;
  readonly problem?: string;
  readonly fields?: readonly PlannedField[];
}

export interface PlannedItem {
  readonly path: string;
  readonly type: string;
  readonly target?: string;
  /** `same`: the job would not change the deploy item, so differences are drift. */
  readonly state: 'new' | 'changed' | 'same' | 'gone' | 'idle';
  readonly isKnown: boolean;
  readonly problem?: string;
  readonly note?: string;
  readonly objects: readonly PlannedObject[];
  readonly notes: readonly string[];
  /** Of an item that the job skips: live objects that differ, and that it will not correct. */
  readonly drift?: { readonly objects: readonly PlannedObject[]; readonly problem?: string };
}

/** What the next job of a landscape would change: the output of `espalier plan -o json`. */
export interface Plan {
  readonly items: readonly PlannedItem[];
  readonly problems: readonly {
    readonly path: string;
    readonly message: string;
    readonly isUnknown: boolean;
  }[];
  readonly summary: Readonly<Record<PlannedObject['change'] | 'unknown' | 'problems', number>>;
}

export const actions = ['reconcile', 'interrupt', 'suspend', 'resume', 'delete'] as const;
export type Action = (typeof actions)[number];

/** Which actions the user may request. */
export type Rights = Readonly<Record<Action, boolean>>;

/** What a deletion deletes. */
export interface Deletion {
  readonly uid: string;
  readonly parts: readonly { readonly kind: string; readonly name: string }[];
  /** Objects on targets, as the provider status lists them. */
  readonly objects: readonly { readonly kind: string; readonly name: string }[];
  /** Roots that import what this one exports. */
  readonly importers: readonly string[];
}

export interface Problem {
  readonly error: string;
}
