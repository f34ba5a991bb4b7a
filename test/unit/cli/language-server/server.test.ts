/** The language server, as an editor uses it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { LanguageServer } from '../../../../src/cli/language-server/server.ts';
import { schemas } from '../../../../src/cli/schemas/catalogue.ts';
import { FakeClock } from '../../../support/clock.ts';

const BLUEPRINT = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
  - name: cluster
    targetType: landscaper.gardener.cloud/kubernetes-cluster
deployExecutions:
  - name: default
    type: GoTemplate
    file: /items.gotmpl
`;

interface Sent {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly params?: { readonly uri: string; readonly diagnostics: readonly Diagnostic[] };
}

interface Diagnostic {
  readonly code: string;
  readonly severity: number;
  readonly range: object;
}

describe('the language server', () => {
  let folder: string;
  let clock: FakeClock;
  let server: LanguageServer;
  let sent: Sent[];
  let onSent: (() => void) | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'language-server-'));
    clock = new FakeClock();
    sent = [];
    const send = (message: object): void => {
      sent.push(message);
      onSent?.();
    };
    server = new LanguageServer({ send, clock, schemas, version: '1.2.3' });
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const uri = (name: string): string => pathToFileURL(join(folder, name)).href;
  const open = (name: string, text: string): void => {
    server.receive({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri: uri(name), languageId: 'yaml', version: 1, text } },
    });
  };
  const change = (name: string, text: string): void => {
    server.receive({
      method: 'textDocument/didChange',
      params: { textDocument: { uri: uri(name), version: 2 }, contentChanges: [{ text }] },
    });
  };
  function ask(method: string, params: object = {}): unknown {
    server.receive({ id: 7, method, params });
    const answer = sent.find(({ id }) => id === 7);
    sent = sent.filter((one) => one !== answer);
    return answer?.result ?? answer?.error ?? null;
  }
  const cursor = (name: string, line: number) => ({
    textDocument: { uri: uri(name) },
    position: { line, character: 0 },
  });
  /** The rules of the findings by file, after `count` files have been reported. */
  async function findings(count: number): Promise<Readonly<Record<string, readonly string[]>>> {
    const reports = (): Sent[] => sent.filter(({ method }) => method === 'textDocument/publishDiagnostics');
    const reported = new Promise<void>((resolve) => {
      onSent = () => {
        if (reports().length >= count) resolve();
      };
    });
    await clock.advance(200);
    await reported;
    const found = reports().map(({ params }) => [
      params?.uri.slice(uri('').length + 1),
      params?.diagnostics.map(({ code }) => code),
    ]);
    sent = [];
    return Object.fromEntries(found) as Readonly<Record<string, readonly string[]>>;
  }

  it('says what it can do, and refuses other methods', () => {
    expect(ask('initialize')).to.deep.include({ serverInfo: { name: 'espalier', version: '1.2.3' } });
    expect(ask('textDocument/rename')).to.deep.include({ code: -32601 });
    expect(ask('shutdown')).to.equal(null);
    expect(server.receive({ method: 'exit' })).to.equal(true);
  });

  it('reports the findings of a blueprint in all its files, and removes them when they are fixed', async () => {
    writeFileSync(join(folder, 'items.gotmpl'), '{{ if }}');
    open('blueprint.yaml', BLUEPRINT.replace('imports:', 'improts:'));
    expect(await findings(2)).to.deep.equal({
      'blueprint.yaml': ['unknown-field'],
      'items.gotmpl': ['template-syntax'],
    });
    open('items.gotmpl', 'deployItems: []');
    change('blueprint.yaml', BLUEPRINT);
    const fixed = await findings(3);
    expect(fixed['items.gotmpl']).to.deep.equal([]);
    expect(fixed['blueprint.yaml']).to.not.include('unknown-field');
  });

  it('reports what deployers say about configurations in templates', async () => {
    open('blueprint.yaml', BLUEPRINT);
    open(
      'items.gotmpl',
      `deployItems:
- name: a
  type: landscaper.gardener.cloud/mock
  target: { import: cluster }
  config: { apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1, kind: ProviderConfiguration, phse: a }
`,
    );
    expect((await findings(2))['items.gotmpl']).to.deep.equal(['item-config-field']);
  });

  it('reports the findings of an installation with an inline blueprint, and of broken YAML', async () => {
    const inline = BLUEPRINT.replace(/deployExecutions[^]*/, 'exports: [{name: a}]\n');
    const text = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: web}
spec:
  blueprint:
    inline:
      filesystem:
        blueprint.yaml: |
${inline.replace(/^/gm, '          ')}`;
    open('installation.yaml', text);
    expect((await findings(1))['installation.yaml']).to.not.deep.equal([]);
    change('installation.yaml', 'a: [');
    expect((await findings(1))['installation.yaml']).to.have.length(1);
    change('installation.yaml', 'kind: ConfigMap');
    expect((await findings(1))['installation.yaml']).to.deep.equal([]);
  });

  it('completes fields and values from the schema of the file', () => {
    open('blueprint.yaml', `${BLUEPRINT}  - na\nexp\n`);
    const labels = (line: number): readonly string[] =>
      (ask('textDocument/completion', cursor('blueprint.yaml', line)) as { label: string }[]).map(
        ({ label }) => label,
      );
    expect(labels(9)).to.have.members(['name', 'type', 'template', 'file']);
    expect(labels(10)).to.include.members(['exports', 'deployExecutions', 'subinstallations']);
    expect(labels(7)).to.deep.equal(['GoTemplate', 'Spiff', 'Handlebars']);
    open('target.yaml', 'apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Target\nspec:\n  ty\n');
    expect(
      (ask('textDocument/completion', cursor('target.yaml', 3)) as { label: string }[]).map(
        ({ label }) => label,
      ),
    ).to.include.members(['type', 'config', 'secretRef']);
  });

  it('explains fields, and says nothing about files without a schema', () => {
    open('blueprint.yaml', BLUEPRINT);
    expect(JSON.stringify(ask('textDocument/hover', cursor('blueprint.yaml', 7)))).to.contain(
      '**type**\\n\\nGoTemplate, Spiff or Handlebars.',
    );
    open('other.yaml', 'kind: ConfigMap\ndata: {}');
    expect(ask('textDocument/hover', cursor('other.yaml', 1))).to.equal(null);
    expect(ask('textDocument/completion', cursor('other.yaml', 1))).to.deep.equal([]);
    expect(ask('textDocument/hover', cursor('closed.yaml', 1))).to.equal(null);
  });

  describe('in templates of sub-installations', () => {
    const TEMPLATE = `name: db
imports:
  data:
    - name: size
      dataRef: size
blueprint:
  filesystem:
    blueprint.yaml: |
      apiVersion: landscaper.gardener.cloud/v1alpha1
      kind: Blueprint
      imports:
        - name: size
          required: false
`;
    const HEAD = 'apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n';
    const below = (text: string, columns: number): string => text.replace(/^(?=.)/gm, ' '.repeat(columns));
    const hoverOn = (file: string, text: string, mark: string): string => {
      open(file, text);
      const line = text.split('\n').findIndex((one) => one.includes(mark));
      return JSON.stringify(ask('textDocument/hover', cursor(file, line)));
    };
    const places: readonly (readonly [string, string, string])[] = [
      ['a file with a kind', 'db.yaml', `kind: InstallationTemplate\n${TEMPLATE}`],
      ['a file without a kind', 'db.yaml', TEMPLATE],
      [
        'an entry of the blueprint',
        'blueprint.yaml',
        `${HEAD}subinstallations:\n  - ${below(TEMPLATE, 4).trimStart()}`,
      ],
      [
        'a template that creates it',
        'blueprint.yaml',
        `${HEAD}subinstallationExecutions:\n  - name: a\n    type: GoTemplate\n    template: |\n      subinstallations:\n      - ${below(TEMPLATE, 8).trimStart()}`,
      ],
      [
        'a file of an inline blueprint',
        'installation.yaml',
        `apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Installation\nspec:\n  blueprint:\n    inline:\n      filesystem:\n        db.yaml: |\n${below(TEMPLATE, 10)}        blueprint.yaml: |\n          kind: Blueprint\n`,
      ],
    ];
    for (const [what, file, text] of places)
      it(`explains fields and those of the inline blueprint: ${what}`, () => {
        expect(hoverOn(file, text, 'dataRef:')).to.contain(
          '**dataRef**\\n\\nImport of the parent, or export of a sibling.',
        );
        expect(hoverOn(file, text, 'required:')).to.contain('**required**\\n\\nWhether a value is required.');
      });

    it('completes fields of an inline blueprint', () => {
      open('db.yaml', `${TEMPLATE}      exp\n`);
      const line = TEMPLATE.split('\n').length - 1;
      const found = ask('textDocument/completion', cursor('db.yaml', line)) as { label: string }[];
      expect(found.map(({ label }) => label)).to.include.members(['exports', 'deployExecutions']);
    });

    it('says nothing about other files of an inline blueprint', () => {
      const text = TEMPLATE.replace('blueprint.yaml: |', 'values.yaml: |');
      expect(hoverOn('db.yaml', text, 'required:')).to.equal('null');
    });
  });
});
