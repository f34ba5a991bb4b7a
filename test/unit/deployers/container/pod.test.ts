/** The pod of a run: rights, resources and pull policies of its containers. */
import { expect } from 'chai';
import { podOf } from '../../../../deployers/container/pod.ts';
import {
  defaultSettings,
  PULL_POLICIES,
  type ContainerSettings,
} from '../../../../deployers/container/settings.ts';

interface Security {
  readonly runAsUser?: number;
  readonly runAsNonRoot?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly seccompProfile?: { readonly type: string };
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
}
interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly imagePullPolicy: string;
  readonly securityContext: Security;
  readonly resources: { readonly requests: object; readonly limits: object };
}
interface Spec {
  readonly securityContext: Security & { readonly fsGroup: number };
  readonly volumes: readonly object[];
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
}

const HAS_ALL = { imagePull: true, blueprintPull: true, descriptorPull: true, ocmConfig: true };

const specOf = (
  settings: Partial<ContainerSettings> = {},
  more: Partial<Parameters<typeof podOf>[0]> = {},
): Spec => {
  const pod = podOf({
    run: {
      item: { namespace: 'proj', name: 'web' },
      uid: 'u',
      jobID: 'j',
      generation: 1,
      operation: 'RECONCILE',
    },
    deployerId: 'd',
    isSidecar: true,
    settings: { ...defaultSettings, ...settings },
    image: 'tool:1',
    command: undefined,
    args: undefined,
    traceparent: undefined,
    stateSecrets: [],
    has: HAS_ALL,
    ...more,
  });
  return (pod as unknown as { readonly spec: Spec }).spec;
};

const allOf = ({ initContainers, containers }: Spec): readonly Container[] => [
  ...initContainers,
  ...containers,
];
const named = (spec: Spec, name: string): Container | undefined =>
  allOf(spec).find((one) => one.name === name);

/** What the `restricted` profile requires of a container. */
function violations({ securityContext: pod, ...spec }: Spec): readonly string[] {
  return allOf({ securityContext: pod, ...spec }).flatMap(({ name, securityContext: own }) => {
    const type = (own.seccompProfile ?? pod.seccompProfile)?.type ?? '';
    const found = {
      runAsNonRoot: (own.runAsNonRoot ?? pod.runAsNonRoot) !== true,
      runAsUser: own.runAsUser === 0 || pod.runAsUser === 0,
      seccompProfile: !['RuntimeDefault', 'Localhost'].includes(type),
      allowPrivilegeEscalation: own.allowPrivilegeEscalation !== false,
      capabilities: !own.capabilities?.drop?.includes('ALL') || (own.capabilities.add ?? []).length > 0,
    };
    return Object.entries(found).flatMap(([rule, isViolated]) => (isViolated ? [`${name}: ${rule}`] : []));
  });
}

const VOLUMES = ['configMap', 'emptyDir', 'projected', 'secret', 'downwardAPI', 'csi', 'ephemeral'];

describe('the pod of a run', () => {
  it('satisfies the restricted profile', () => {
    const spec = specOf();
    expect(
      allOf(spec)
        .map(({ name }) => name)
        .sort(),
    ).to.deep.equal(['init', 'main', 'wait']);
    expect(violations(spec)).to.deep.equal([]);
    const kinds = spec.volumes.flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
    expect(kinds.filter((kind) => !VOLUMES.includes(kind))).to.deep.equal([]);
  });

  it('shares its files among all containers: one user, and a group for the volumes', () => {
    for (const securityContext of [{}, { runAsUser: 4711, runAsGroup: 4712 }, { runAsUser: 0 }]) {
      const spec = specOf({ main: { ...defaultSettings.main, securityContext } });
      const user = securityContext.runAsUser ?? 1000;
      expect(spec.securityContext).to.include({ runAsUser: user, fsGroup: 2000 });
      const users = allOf(spec).map(({ securityContext: own }) => own.runAsUser ?? user);
      expect(new Set(users)).to.deep.equal(new Set([user]));
    }
  });

  it('gives the image the rights of the configuration, and only the image', () => {
    const securityContext = {
      runAsUser: 0,
      allowPrivilegeEscalation: true,
      capabilities: { add: ['NET_ADMIN'] },
    };
    const spec = specOf({ main: { ...defaultSettings.main, securityContext } });
    expect(named(spec, 'main')?.securityContext).to.deep.equal({ runAsNonRoot: false, ...securityContext });
    expect(spec.securityContext.runAsNonRoot).to.equal(false);
    for (const name of ['init', 'wait']) {
      expect(named(spec, name)?.securityContext).to.deep.equal({
        runAsNonRoot: false,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE'] },
      });
    }
  });

  it('has requests and limits in all containers', () => {
    for (const { resources } of allOf(specOf())) {
      expect(resources.requests).to.have.all.keys('cpu', 'memory');
      expect(resources.limits).to.have.property('memory');
    }
    const resources = { requests: { cpu: '2' }, limits: {} };
    const spec = specOf({ main: { ...defaultSettings.main, resources } });
    expect(named(spec, 'main')?.resources).to.deep.equal(resources);
    expect(named(spec, 'wait')?.resources).to.deep.equal(defaultSettings.wait.resources);
  });

  it('pulls images that are not present, unless the configuration says otherwise', () => {
    expect(allOf(specOf()).map((one) => one.imagePullPolicy)).to.deep.equal(Array(3).fill('IfNotPresent'));
    const spec = specOf({
      main: { ...defaultSettings.main, pullPolicy: 'Never' },
      wait: { ...defaultSettings.wait, pullPolicy: 'Always' },
    });
    expect(named(spec, 'main')?.imagePullPolicy).to.equal('Never');
    expect(named(spec, 'wait')?.imagePullPolicy).to.equal('Always');
    expect(named(spec, 'init')?.imagePullPolicy).to.equal('IfNotPresent');
    expect(PULL_POLICIES, 'those of Kubernetes').to.have.members(['Always', 'IfNotPresent', 'Never']);
  });

  it('mounts each secret that was created for it, and no other', () => {
    const mounted = (has: Partial<typeof HAS_ALL>): string => {
      const spec = specOf({}, { has: { ...HAS_ALL, ...has } });
      return JSON.stringify([spec, named(spec, 'init')]);
    };
    for (const [key, names] of [
      ['imagePull', ['proj-web-imgpullsec']],
      ['blueprintPull', ['proj-web-bppullsec', '/data/ls/registry_secrets/blueprint-pull-secret"']],
      ['descriptorPull', ['proj-web-cdpullsec', '/data/ls/registry_secrets/cd-pull-secret"']],
      ['ocmConfig', ['proj-web-ocmconfig', '/data/ls/ocm_configuration"']],
    ] as const)
      for (const name of names) {
        expect(mounted({}), key).to.contain(name);
        expect(mounted({ [key]: false }), key).to.not.contain(name);
      }
    expect(mounted({})).to.contain('"mountPath":"/data/ls/internal"');
  });

  it('has a wait container that knows whether it is a sidecar: only a sidecar is restarted', () => {
    const sidecar = specOf();
    expect(sidecar.initContainers.map(({ name }) => name)).to.deep.equal(['init', 'wait']);
    expect(named(sidecar, 'wait')).to.have.property('restartPolicy', 'Always');
    expect(JSON.stringify(named(sidecar, 'wait'))).to.contain('"WAIT_AS_SIDECAR","value":"true"');
    const beside = specOf({}, { isSidecar: false });
    expect(beside.initContainers.map(({ name }) => name)).to.deep.equal(['init']);
    expect(beside.containers.map(({ name }) => name)).to.deep.equal(['main', 'wait']);
    expect(named(beside, 'wait')).to.not.have.property('restartPolicy');
    expect(JSON.stringify(beside)).to.not.contain('WAIT_AS_SIDECAR');
  });

  it('runs the programs of the deployer beside the image', () => {
    const spec = specOf();
    for (const name of ['init', 'wait'])
      expect(named(spec, name)?.command).to.deep.equal(['espalier', 'container', name]);
    expect(named(spec, 'main')).to.not.have.property('command');
  });

  it('says which pod and which item they belong to', () => {
    const pod = [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    ];
    const item = [
      { name: 'DEPLOY_ITEM_NAME', value: 'web' },
      { name: 'DEPLOY_ITEM_NAMESPACE', value: 'proj' },
    ];
    const spec = specOf();
    for (const name of ['init', 'wait'])
      expect(named(spec, name)?.env).to.deep.include.members([...pod, ...item]);
    expect(named(spec, 'main')?.env).to.deep.include.members(pod);
  });

  it('trusts the API server by the certificates of the cluster', () => {
    expect(JSON.stringify(specOf().volumes)).to.contain(
      '"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}',
    );
  });

  it('gives the image the trace of its job, if there is one', () => {
    expect(JSON.stringify(specOf())).to.not.contain('TRACEPARENT');
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    expect(JSON.stringify(named(specOf({}, { traceparent }), 'main'))).to.contain(
      `"TRACEPARENT","value":"${traceparent}"`,
    );
  });
});
