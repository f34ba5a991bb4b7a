/** Kubeconfigs that templates request: for service accounts, for shoots, for users who log in elsewhere. */
import { expect } from 'chai';
import { parseYaml } from '../../../src/lib/yaml.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { Obj, View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  aTarget,
  data,
  fails,
  go,
  itemsOf,
  keeping,
  kept,
  secret,
  succeeds,
  type Given,
} from '../../support/dataflow.ts';
import {
  GARDEN_TOKEN,
  SHOOT_EXPIRES,
  SHOOT_KUBECONFIG,
  startGarden,
  type Garden,
} from '../../support/garden.ts';
import { target } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const takesCluster = { imports: { targets: [{ name: 'cluster', target: 'my-cluster' }] } };
const importing = (template: string, cluster: Obj, more: Partial<Given> = {}): Given => ({
  bp: { imports: [aTarget('cluster')], ...keeping(template), ...more.bp },
  spec: { ...takesCluster, ...more.spec },
  objects: [cluster, ...(more.objects ?? [])],
});
const unpacked = (base64: unknown): Record<string, never> =>
  parseYaml(Buffer.from(String(base64), 'base64').toString('utf8')) as Record<string, never>;

/** The service account `robot` in the namespace of a scene. */
async function account(scene: Scene): Promise<void> {
  const path = `/api/v1/namespaces/${scene.ns}/serviceaccounts`;
  const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } };
  await scene.cluster.client.raw('POST', path, object);
}

/** The user of a token, according to the API server. */
async function userOf(scene: Scene, token: string): Promise<unknown> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const answer = await scene.cluster.client.raw(
    'POST',
    '/apis/authentication.k8s.io/v1/tokenreviews',
    review,
  );
  return (answer as { status: { user: { username: string } } }).status.user.username;
}

describe('a kubeconfig of a service account', () => {
  const here = useCluster();
  const cluster = (): Obj =>
    target('my-cluster', 'kubernetes-cluster', { kubeconfig: here.cluster.kubeconfig });
  const ROBOT = '"robot" .imports.cluster.metadata.namespace 3600.0 .imports.cluster';
  const withAccount = {
    scene: async () => {
      const scene = await here.scene();
      await account(scene);
      return scene;
    },
  };

  it('has a token of that account for the cluster of the target', async () => {
    const scene = await succeeds(
      withAccount,
      importing(`{{ getServiceAccountKubeconfig ${ROBOT} }}`, cluster()),
    );
    const { users, contexts, clusters, ...rest } = unpacked(kept(scene)) as Record<
      string,
      { name: string }[]
    >;
    const [user] = users as unknown as { name: string; user: { token: string } }[];
    expect(user?.name).to.equal('robot');
    expect(contexts).to.have.lengthOf(1);
    expect(clusters).to.have.lengthOf(1);
    expect(rest).to.include({ apiVersion: 'v1', kind: 'Config' });
    expect(await userOf(scene, user?.user.token ?? '')).to.equal(`system:serviceaccount:${scene.ns}:robot`);
  });

  it('shows when it expires', async () => {
    const template = `{{ with getServiceAccountKubeconfigWithExpirationTimestamp ${ROBOT} -}}
      {at: {{ .expirationTimestamp }}, read: {{ .expirationTimestampReadable | quote }}, k: {{ .kubeconfig }} }
      {{- end }}`;
    const scene = await succeeds(withAccount, importing(template.replaceAll('\n', ' '), cluster()));
    const { at, read, k } = kept(scene) as { at: number; read: string; k: string };
    expect(at).to.equal(Date.parse(read) / 1000);
    expect(unpacked(k)).to.have.property('users');
  });

  it('is available in Handlebars and Spiff as well', async () => {
    const handlebars = {
      name: 'h',
      type: 'Handlebars',
      template:
        'deployItems: [{name: h, type: x, config: {k: "{{getServiceAccountKubeconfig "robot" imports.cluster.metadata.namespace 3600 imports.cluster}}"}}]',
    };
    const call =
      'getServiceAccountKubeconfig("robot", imports.cluster.metadata.namespace, 3600, imports.cluster)';
    const spiff = {
      name: 's',
      type: 'Spiff',
      template: { deployItems: [{ name: 's', type: 'x', config: { k: `(( ${call} ))` } }] },
    };
    const scene = await withAccount.scene();
    await scene.create(cluster());
    await scene.create({
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Installation',
      metadata: { name: 'shop', annotations: { 'landscaper.gardener.cloud/operation': 'reconcile' } },
      spec: {
        ...takesCluster,
        blueprint: {
          inline: {
            filesystem: {
              'blueprint.yaml': JSON.stringify({
                apiVersion: 'landscaper.gardener.cloud/v1alpha1',
                kind: 'Blueprint',
                imports: [aTarget('cluster')],
                deployExecutions: [handlebars, spiff],
              }),
            },
          },
        },
      },
    } as Obj);
    await scene.until('both items are there', () => itemsOf(scene).length === 2);
    for (const { config } of itemsOf(scene)) {
      expect(unpacked((config as { k: string }).k)).to.have.nested.property('users[0].name', 'robot');
    }
  });

  it('can be requested in import and export executions', async () => {
    const template = `{{ getServiceAccountKubeconfig ${ROBOT} }}`;
    const scene = await succeeds(
      withAccount,
      importing('{{ len .imports.access }}', cluster(), {
        bp: {
          importExecutions: [go(`bindings: {access: ${template}}`)],
          exports: [data('out')],
          exportExecutions: [go(`exports: {out: ${template}}`)],
        },
        spec: { ...takesCluster, exports: { data: [{ name: 'out', dataRef: 'result' }] } },
      }),
    );
    expect(kept(scene)).to.be.greaterThan(100);
    expect(unpacked(scene.dataObject('result')?.data)).to.have.nested.property('users[0].name', 'robot');
  });

  it('for a service account that does not exist fails the job, at its place in the template', async () => {
    const { error } = await fails(
      here,
      importing('{{ getServiceAccountKubeconfig "nobody" "nowhere" 3600 .imports.cluster }}', cluster()),
    );
    expect(error.message).to.match(/execution:1:\d+: .*error calling getServiceAccountKubeconfig: /);
    expect(error.message).to.contain('no kubeconfig for service account nowhere/nobody');
    expect(error.message).to.match(/(serviceaccounts "nobody"|namespaces "nowhere") not found/);
  });

  it('does not appear in the message of a template that fails after it', async () => {
    const broken = `{{ fail (getServiceAccountKubeconfig ${ROBOT} | b64dec) }}`;
    const token = `{{ fail (index (getServiceAccountKubeconfig ${ROBOT} | b64dec | fromYaml).users 0).user.token }}`;
    const yaml = `{{ getServiceAccountKubeconfig ${ROBOT} }}: [`;
    for (const template of [broken, token, yaml]) {
      const { self } = await fails(withAccount, importing(template, cluster()));
      const text = JSON.stringify(self.status);
      expect(text, template).to.not.match(/eyJ[\w-]{20,}/, 'a token');
      expect(text, template).to.not.match(/[A-Za-z0-9+/]{200,}/, 'base64');
    }
  });

  it('that differs on every call is not requested without end', async () => {
    const { error } = await fails(
      withAccount,
      importing(
        '{{ getServiceAccountKubeconfig "robot" .imports.cluster.metadata.namespace (randInt 600 100000000) .imports.cluster }}',
        cluster(),
      ),
    );
    expect(error.message).to.contain('50 different kubeconfigs');
  });

  it('can be requested with the secret that the target refers to', async () => {
    const scene = await withAccount.scene();
    const referring = {
      ...cluster(),
      spec: {
        type: 'landscaper.gardener.cloud/kubernetes-cluster',
        secretRef: { name: 'access', key: 'kubeconfig' },
      },
    };
    const played = await succeeds(
      { scene: () => Promise.resolve(scene) },
      importing(`{{ getServiceAccountKubeconfig ${ROBOT} }}`, referring, {
        objects: [secret('access', { kubeconfig: here.cluster.kubeconfig })],
      }),
    );
    expect(unpacked(kept(played))).to.have.nested.property('users[0].name', 'robot');
  });

  it('cannot be requested with secrets of other namespaces', async () => {
    const made =
      '(dict "metadata" (dict "namespace" "kube-system") "spec" (dict "secretRef" (dict "name" "admin" "key" "k")))';
    const { error } = await fails(
      here,
      importing(`{{ getServiceAccountKubeconfig "robot" "default" 3600 ${made} }}`, cluster()),
    );
    expect(error.message).to.contain('the target is in namespace "kube-system"');
  });

  it('cannot be requested by running commands of the controller', async () => {
    const kubeconfig = JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://example.org' } }],
      users: [{ name: 'u', user: { exec: { command: 'id' } } }],
    });
    const { error } = await fails(
      here,
      importing(
        '{{ getServiceAccountKubeconfig "robot" "default" 3600 .imports.cluster }}',
        target('my-cluster', 'kubernetes-cluster', { kubeconfig }),
      ),
    );
    expect(error.message).to.contain('exec');
  });
});

describe('a kubeconfig of a shoot', () => {
  const here = useCluster();
  let garden: Garden;
  before(async () => {
    garden = await startGarden();
  });
  after(() => garden.close());
  const project = (): Obj => target('my-cluster', 'kubernetes-cluster', { kubeconfig: garden.kubeconfig });
  const shoot = (name: string, call = 'getShootAdminKubeconfig'): string =>
    `{{ ${call} "${name}" "garden-web" 3600 .imports.cluster }}`;

  it('is requested in the project of the target', async () => {
    const scene = await succeeds(here, importing(shoot('good'), project()));
    expect(Buffer.from(String(kept(scene)), 'base64').toString()).to.equal(SHOOT_KUBECONFIG);
    expect(garden.asked.at(-1)).to.deep.equal({
      path: '/apis/core.gardener.cloud/v1beta1/namespaces/garden-web/shoots/good/adminkubeconfig',
      body: {
        apiVersion: 'authentication.gardener.cloud/v1alpha1',
        kind: 'AdminKubeconfigRequest',
        metadata: { name: 'good', namespace: 'garden-web' },
        spec: { expirationSeconds: 3600 },
      },
    });
  });

  it('shows when it expires, if the project sends that', async () => {
    const call = 'getShootAdminKubeconfigWithExpirationTimestamp';
    const scene = await succeeds(
      here,
      importing(
        `{{ with ${call} "good" "garden-web" 3600 .imports.cluster }}{{ .expirationTimestamp }}{{ end }}`,
        project(),
      ),
    );
    expect(kept(scene)).to.equal(Date.parse(SHOOT_EXPIRES) / 1000);
    const { error } = await fails(
      here,
      importing(`{{ len (${shoot('endless', call).slice(3, -3)}) }}`, project()),
    );
    expect(error.message).to.contain('has no expiration time for the kubeconfig');
  });

  it('is requested again if the project is busy', async () => {
    const scene = await succeeds(here, importing(shoot('busy'), project()));
    expect(Buffer.from(String(kept(scene)), 'base64').toString()).to.equal(SHOOT_KUBECONFIG);
    const said = scene
      .seen({ kind: 'Installation' } as never, 'shop')
      .map((one) => (one as unknown as View<Installation>).status?.lastError?.message ?? '');
    expect(said.join('\n')).to.contain('no kubeconfig for shoot garden-web/busy');
  });

  it('fails the job if there is no such shoot, or no usable answer', async () => {
    const { error } = await fails(here, importing(shoot('none'), project()));
    expect(error.message).to.contain('shoots.core.gardener.cloud "none" not found');
    const mute = await fails(here, importing(shoot('mute'), project()));
    expect(mute.error.message).to.contain('the response of the cluster contains no kubeconfig');
  });

  it('does not appear in a message, nor do the credentials used to request it', async () => {
    const { self } = await fails(
      here,
      importing(`{{ fail (print .imports.cluster (${shoot('good').slice(3, -3)} | b64dec)) }}`, project()),
    );
    const text = JSON.stringify(self.status);
    expect(text).to.not.contain('token-of-the-shoot').and.to.not.contain(GARDEN_TOKEN);
  });
});

describe('a kubeconfig for users who log in elsewhere', () => {
  const here = useCluster();
  const call = '{{ getOidcKubeconfig "https://login.example.org" "shop" .imports.cluster }}';

  it('has the cluster of the target and a kubectl plugin for the credentials', async () => {
    const access = target('my-cluster', 'kubernetes-cluster', { kubeconfig: here.cluster.kubeconfig });
    const scene = await succeeds(here, importing(call, access));
    const { users, clusters } = unpacked(kept(scene)) as unknown as {
      users: { user: { exec: { command: string; args: string[] }; token?: string } }[];
      clusters: unknown[];
    };
    expect(users).to.have.lengthOf(1);
    expect(users[0]?.user).to.have.all.keys('exec');
    expect(users[0]?.user.exec.command).to.equal('kubectl');
    expect(users[0]?.user.exec.args).to.include('--oidc-issuer-url=https://login.example.org');
    expect(users[0]?.user.exec.args).to.include('--oidc-client-id=shop');
    expect(clusters).to.have.lengthOf(1);
  });

  it('reads the secret that a target refers to', async () => {
    const referring = {
      ...target('my-cluster'),
      spec: { type: 'landscaper.gardener.cloud/kubernetes-cluster', secretRef: { name: 'access', key: 'k' } },
    };
    const scene = await succeeds(
      here,
      importing(call, referring, { objects: [secret('access', { k: here.cluster.kubeconfig })] }),
    );
    expect(unpacked(kept(scene))).to.have.nested.property('users[0].user.exec.command', 'kubectl');
  });

  it('reports mistakes in the kubeconfig of the target without showing its content', async () => {
    const access = target('my-cluster', 'kubernetes-cluster', {
      kubeconfig: 'token: secret-of-the-target\n',
    });
    const { error } = await fails(here, importing(call, access));
    expect(error.message).to.contain('the kubeconfig of the target has no current context');
    expect(error.message).to.not.contain('secret-of-the-target');
  });
});
