/** The description of a test by its author: an operator, its kinds, the actions of users, and the expected result. */
import type { Conversion } from '../runtime/conversion/conversion.ts';
import type { Sharing } from '../runtime/fleet/sharing.ts';
import type { Operator, OperatorOptions } from '../runtime/operator/start-operator.ts';
import type { Client, Kind, Key, Obj, View } from '../runtime/types.ts';
import type { Clock } from '../lib/clock.ts';
import type { ObjectChange } from './cluster/local-cluster.ts';
import type { Chance } from './engine/chance.ts';
import type { ScriptedFault } from './network/faults.ts';

/** An operator in a simulated cluster. */
export interface OperatorUnderTest {
  /** CustomResourceDefinitions: objects, or paths and URLs of YAML files. */
  readonly crds?: readonly (Obj | string | URL)[];
  /**
   * As `conversion.conversions` of `runOperator`. The API server calls them in this process, and they are always reachable.
   * Default: none.
   */
  readonly conversions?: readonly Conversion[];
  /** Adds the controllers, as for `runOperator`. Called again after each restart of the process. */
  add(operator: Operator, services: ExternalServices): unknown;
  /**
   * Number of processes that run at the same time. From two on they share the work, as with `sharing` of `runOperator`;
   * while one is dead, the others continue. Default 1.
   */
  readonly replicas?: number;
  /** As for `runOperator`: which primaries must stay together. */
  readonly place?: Sharing['place'];
  /**
   * As for `runOperator`: restricts the caches that name no namespaces themselves. After a crash, `set` of a scope also waits
   * for the killed process, so it never resolves; a test that crashes needs a scope that `add` creates.
   */
  readonly namespaces?: OperatorOptions['namespaces'];
  /** As for `runOperator`: what happens if a kind cannot be read at the start. */
  readonly unreadable?: 'fail' | 'skip';
  /** Makes workloads ready although no container runs; default true. */
  readonly workloads?: boolean;
}

/** Services outside of the cluster, which are as unreliable as the API server. */
export interface ExternalServices {
  /**
   * Calls a service: `effect` runs when the call arrives. The call may fail with or without effect, and the process may
   * die before it gets the answer.
   * @param label for the trace, such as `create bucket a`
   */
  call<T>(label: string, effect: () => T | Promise<T>): Promise<T>;
}

/** A law that is checked after every change of an object. */
export interface Law {
  /** A sentence that is always true. */
  readonly name: string;
  /** @returns the violation */
  broken(change: ObjectChange): string | undefined;
}

/** The laws that hold for every operator, unless a scenario names them in `without`. */
export type BuiltInLaw =
  | 'a settled operator writes nothing'
  | 'a restart writes nothing'
  | 'every write changes something'
  | 'a deletion leaves nothing';

/** An operator, the actions of users under faults, and the expected result. */
export interface Scenario extends OperatorUnderTest {
  /** What users do, while requests fail and the process dies. `cluster.advance` lets time pass. */
  act(cluster: TestCluster): Promise<void>;
  /** Called when the faults have ended and nothing is left to do. @throws an error if the result is wrong */
  check(cluster: TestCluster): void | Promise<void>;
  readonly laws?: readonly Law[];
  /** Laws that do not apply: name → reason. */
  readonly without?: Readonly<Partial<Record<BuiltInLaw, string>>>;
  /** Objects that may stay when all primaries are deleted. */
  keeps?(object: View<Obj>): boolean;
}

/** Which request a fault hits; by default the next write. */
export interface RequestMatch {
  /** `create`, `apply`, `merge`, `merge status`, `delete`, `get`, `list`, `watch`, or `call` for `ExternalServices`. */
  readonly verb?: string;
  /** The kind; for `call` the label. */
  readonly kind?: string;
  readonly key?: Key;
}

/**
 * A cluster in memory, in which time is virtual and nothing happens between two calls of its methods. The test acts as
 * the user.
 */
export interface TestCluster {
  /** The client of the user: its requests are answered at once, without faults. */
  readonly client: Client;
  readonly clock: Clock;
  /** Random values that the seed determines. */
  readonly random: Chance;
  /** Writes of the operator that arrived, such as `apply ConfigMap default/hello`. */
  readonly writes: readonly string[];
  /** Why the operator is not ready, as `/readyz` says it; undefined if it is ready. */
  readonly notReady: string | undefined;
  /** An object on the server; undefined if it does not exist. */
  get<T extends Obj>(kind: Kind<T>, key: Key): Promise<T | undefined>;
  /** Lets time pass. @throws Violation */
  advance(ms: number): Promise<void>;
  /**
   * Lets time pass until something is true.
   * @param limitMs default ten minutes
   * @throws Violation if it does not become true
   */
  until(
    what: string,
    isTrue: () => boolean | undefined | Promise<boolean | undefined>,
    limitMs?: number,
  ): Promise<void>;
  /** Ends all faults, and lets time pass until nothing is left to do. @throws Violation if that is never the case */
  settle(): Promise<void>;
  /** Lets the next matching request of the operator fail. */
  failNext(fault: ScriptedFault, match?: RequestMatch): { readonly isInjected: boolean };
  /** Breaks the watches, or those of one kind. */
  cutWatches(kind?: string): void;
  /** Nothing arrives on the watches of a kind for a while. */
  stallWatches(kind: string, ms: number): void;
  /** Kills the process of the operator, or one of its replicas; another one starts within three seconds. */
  crash(): void;
  /**
   * Asks the process of the operator to stop, or one of its replicas, as SIGTERM does: active reconciles end first. Another
   * one starts within three seconds after that.
   */
  stop(): void;
  close(): Promise<void>;
}
