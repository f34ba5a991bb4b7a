import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../../src/cli/program.ts';
import { ownField, type Fields } from '../../../src/lib/objects.ts';
import { parseYamlAll } from '../../../src/lib/yaml.ts';
import { fakeTerminal, type FakeTerminal } from './terminal.ts';

const contentOf = (documents: readonly Fields[]): unknown =>
  ownField(ownField(documents[0], 'spec'), 'config');

describe('targets create', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'targets-'));
    file('good.yaml', kubeconfig({ token: 'hunter2-token' }));
    file('exec.yaml', kubeconfig({ exec: { command: 'aws-login' } }));
    file('files.yaml', kubeconfig({ 'client-certificate': 'c.pem', 'client-key': 'k.pem' }));
    file('c.pem', 'certificate');
    file('k.pem', 'key');
    file('ca.pem', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const file = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
  };
  const kubeconfig = (user: object): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'x',
      clusters: [
        { name: 'c', cluster: { server: 'https://c.invalid' } },
        { name: 'other', cluster: {} },
      ],
      users: [{ name: 'u1', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u1' } }],
    });

  /** Arguments with a dot are files in the folder. */
  async function create(
    ...args: string[]
  ): Promise<{ code: number; terminal: FakeTerminal; documents: Fields[] }> {
    const terminal = fakeTerminal();
    const full = args.map((arg) => (/^\w+\.\w+$/.test(arg) ? join(folder, arg) : arg));
    const code = await runProgram(['targets', 'create', ...full], terminal);
    return { code, terminal, documents: code === 0 ? (parseYamlAll(terminal.output) as Fields[]) : [] };
  }
  const text = (): string => readFileSync(join(folder, 'good.yaml'), 'utf8');

  it('DEP-91: prints a Secret and a Target that refers to it', async () => {
    const args = ['kubernetes-cluster', '--name', 't', '-n', 'proj', '-s', 'sec'];
    const { documents } = await create(...args, '--target-kubeconfig', 'good.yaml');
    expect(documents).to.deep.equal([
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'sec', namespace: 'proj' },
        stringData: { config: JSON.stringify({ kubeconfig: text() }) },
      },
      {
        apiVersion: 'landscaper.gardener.cloud/v1alpha1',
        kind: 'Target',
        metadata: { name: 't', namespace: 'proj' },
        spec: {
          type: 'landscaper.gardener.cloud/kubernetes-cluster',
          secretRef: { name: 'sec', key: 'config' },
        },
      },
    ]);
  });

  it('DEP-91: prints one Target without -s', async () => {
    const { documents } = await create('t', '--kubeconfig', 'good.yaml');
    expect(documents).to.have.length(1);
    expect(contentOf(documents)).to.deep.equal({ kubeconfig: text() });
  });

  it('DEP-91: writes a file that only its owner can read', async () => {
    const { terminal, code } = await create('t', '--kubeconfig', 'good.yaml', '-o', 'out.yaml');
    expect([code, terminal.output]).to.deep.equal([0, `Wrote target to ${join(folder, 'out.yaml')}\n`]);
    expect(readFileSync(join(folder, 'out.yaml'), 'utf8')).to.contain('kind: Target');
  });

  it('-o FILE still works, and names the option to use', async () => {
    const { terminal } = await create('t', '--kubeconfig', 'good.yaml', '-o', 'out.yaml');
    expect(terminal.errors).to.equal(
      `-o with a file name is deprecated; use --output-file ${join(folder, 'out.yaml')}\n`,
    );
  });

  it('-o json prints a list that kubectl can apply, also to a file', async () => {
    const { terminal } = await create('t', '--kubeconfig', 'good.yaml', '-s', 'access', '-o', 'json');
    const { kind, items } = JSON.parse(terminal.output) as { kind: string; items: { kind: string }[] };
    expect([kind, ...items.map((one) => one.kind)]).to.deep.equal(['List', 'Secret', 'Target']);
    await create('t', '--kubeconfig', 'good.yaml', '-o', 'json', '--output-file', 'out.json');
    expect(JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'))).to.include({ kind: 'Target' });
  });

  it('-o name prints only the names', async () => {
    const { terminal } = await create('t', '--kubeconfig', 'good.yaml', '-s', 'access', '-o', 'name');
    expect(terminal.output).to.equal('secret/access\ntarget.landscaper.gardener.cloud/t\n');
  });

  it('-o refuses a format that does not exist', async () => {
    const { code, terminal } = await create('t', '--kubeconfig', 'good.yaml', '-o', 'xml');
    expect([code, terminal.errors]).to.deep.equal([
      2,
      'error: -o: "xml" is not a format; choose yaml, json or name, or name an output file with --output-file\n',
    ]);
  });

  it('embeds files in the kubeconfig, and leaves out what the context does not need', async () => {
    const { documents } = await create('t', '--kubeconfig', 'files.yaml', '--flatten');
    const made = JSON.parse((contentOf(documents) as { kubeconfig: string }).kubeconfig) as Fields;
    expect(made['users']).to.deep.equal([
      {
        name: 'u1',
        user: {
          'client-certificate-data': Buffer.from('certificate').toString('base64'),
          'client-key-data': Buffer.from('key').toString('base64'),
        },
      },
    ]);
    expect(made['clusters']).to.have.length(1);
  });

  it('creates an OIDC target, and explains its requirements', async () => {
    const args = ['edge', '-n', 'proj', '--oidc-server', 'https://edge:6443', '--oidc-ca', 'ca.pem'];
    const { documents, terminal } = await create(
      ...[...args, '--service-account', 'deploy', '--audience', 'target', '--expiration', '3600'],
    );
    expect(contentOf(documents)).to.deep.equal({
      oidcConfig: {
        server: 'https://edge:6443',
        caData: readFileSync(join(folder, 'ca.pem')).toString('base64'),
        serviceAccount: { name: 'deploy' },
        expirationSeconds: 3600,
        audience: ['target'],
      },
    });
    expect(terminal.errors).to.contain('serviceaccounts/token').and.contain('kind: ClusterRoleBinding');
  });

  it('creates a target for its own cluster', async () => {
    const { documents } = await create('here', '--self', '--service-account', 'me');
    expect(contentOf(documents)).to.deep.equal({
      selfConfig: { serviceAccount: { name: 'me' } },
    });
  });

  const mistakes: readonly (readonly [args: string, line: RegExp])[] = [
    ['', /no name given for the target/],
    ['t', /no cluster given for the target; set one of --target-kubeconfig FILE, --oidc-server URL/],
    ['t --self --oidc-server https://x', /set only one of --oidc-server URL, --self/],
    [
      't --self',
      /which identity should deployers use on the target cluster\? Name the service account with --service-account/,
    ],
    ['t --oidc-server http://x --service-account a', /--oidc-server: write it as https:\/\/HOST:PORT/],
    ['t --kubeconfig exec.yaml', /exec configurations are not supported .*aws-login would run/],
    ['t --kubeconfig files.yaml', /client certificate files .*--flatten embeds the files/],
    ['t --kubeconfig nowhere.yaml', /there is no file .*nowhere\.yaml/],
    ['t --kubeconfig c.pem', /contains no cluster; is it a kubeconfig\?/],
    ['t --kubeconfig good.yaml --target-context y', /has no context y; it has x/],
    ['t --kubeconfig good.yaml --type example.org/dns', /needs its content; give it with --config/],
    ['My_T --self --service-account a', /"My_T" is not a valid name of a target: /],
    ['t -s My_S --self --service-account a', /"My_S" is not a valid name of a secret: /],
    ['t -n My_N --self --service-account a', /"My_N" is not a valid name of a namespace: /],
    [
      't --name u --self --service-account a',
      /two names for the target: t and, with --name, u; give only one/,
    ],
  ];
  for (const [args, line] of mistakes) {
    it(`rejects: ${args || 'no name'}`, async () => {
      const { code, terminal } = await create(...args.split(' ').filter(Boolean));
      expect(code).to.equal(2);
      expect(terminal.errors).to.match(line).and.not.contain('hunter2');
      expect(terminal.output).to.equal('');
    });
  }
});
