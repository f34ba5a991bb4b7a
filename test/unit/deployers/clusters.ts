/** A bench whose target can lead to one of several clusters, which have an identity. */
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import type { DeployerPlugin } from '../../../deployers/sdk/deployer.ts';
import { Bench, kubeconfigOf, manifestConfig } from './bench.ts';
import { FakeCluster } from './fake-cluster.ts';

/** A cluster with the namespace kube-system, unless `uid` is undefined. */
export class NamedCluster extends FakeCluster {
  readonly server: string;

  constructor(name: string, uid: string | undefined) {
    super('app');
    this.uidSeed = name;
    this.server = `https://${name}.invalid`;
    if (uid !== undefined) this.identify(uid);
  }

  identify(uid: string): void {
    this.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid } });
  }
}

export class ClustersBench extends Bench {
  readonly a: NamedCluster;
  readonly b: NamedCluster;
  #job = 0;

  constructor(
    plugin: DeployerPlugin = manifestDeployer(),
    uids: { readonly a?: string | undefined; readonly b?: string | undefined } = {},
  ) {
    const a = new NamedCluster('a', 'a' in uids ? uids.a : 'uid-a');
    const b = new NamedCluster('b', 'b' in uids ? uids.b : 'uid-b');
    super(plugin, {
      target: a,
      connect: (kubeconfig) => Promise.resolve(kubeconfig.includes('cluster-b') ? b : a),
    });
    this.a = a;
    this.b = b;
    this.givenTarget('cluster-a');
  }

  /** From the next job on, the target leads to this cluster. */
  leadTo(cluster: 'a' | 'b'): void {
    const kubeconfig = Buffer.from(kubeconfigOf(`cluster-${cluster}`)).toString('base64');
    this.host.edit('Secret', 'proj/cluster-a-kc', { data: { kubeconfig } });
  }

  async job(): Promise<void> {
    this.#job += 1;
    await this.kick(`j${String(this.#job)}`);
  }

  condition(): string | undefined {
    return this.status().conditions?.find(({ type }) => type === 'ObjectsLeftBehind')?.message;
  }

  /** `uid-a: ConfigMap one` for each object that the status lists for another cluster. */
  leftBehind(): string[] {
    return (this.status().leftBehind ?? []).map(
      ({ cluster, providerStatus, omitted }) =>
        `${cluster?.uid ?? 'older'}: ${namesIn(providerStatus).join(' ')}${omitted ? ` +${String(omitted)}` : ''}`,
    );
  }

  managed(): string[] {
    return namesIn(this.status().providerStatus);
  }
}

interface Listing {
  readonly managedResources?: readonly { readonly resource: { readonly name: string } }[];
}

const namesIn = (status: unknown): string[] =>
  ((status as Listing | undefined)?.managedResources ?? []).map(({ resource }) => resource.name);

export const settings = (...names: string[]): object =>
  manifestConfig({
    manifests: names.map((name) => ({
      policy: 'manage',
      manifest: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'app' },
        data: { a: 'b' },
      },
    })),
  });
