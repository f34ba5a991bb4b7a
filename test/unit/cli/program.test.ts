import { expect } from 'chai';
import type { Command, Option } from 'commander';
import { createProgram, runProgram } from '../../../src/cli/program.ts';
import { fakeTerminal } from './terminal.ts';

const outputOptions = (
  command: Command,
  path = command.name(),
): readonly { readonly path: string; readonly option: Option }[] => [
  ...command.options.filter(({ long }) => long === '--output').map((option) => ({ path, option })),
  ...command.commands.flatMap((one) => outputOptions(one, `${path} ${one.name()}`)),
];

describe('the command line', () => {
  it('prints its help without arguments', async () => {
    const terminal = fakeTerminal();
    expect(await runProgram([], terminal)).to.equal(0);
    expect(terminal.output).to.contain('Usage: espalier').and.contain('Examples:');
    expect(terminal.errors).to.equal('');
  });

  const commands = [
    'demo',
    'dev',
    'start',
    'webhooks',
    'apiserver',
    'crds',
    'schemas',
    'version',
    'installations inspect',
    'installations reconcile',
    'installations interrupt',
    'inst inspect',
    'i i',
    'blueprints lint',
    'bp render',
  ];
  for (const command of commands)
    it(`has help with examples for: ${command}`, async () => {
      const terminal = fakeTerminal();
      expect(await runProgram([...command.split(' '), '--help'], terminal)).to.equal(0);
      expect(terminal.output)
        .to.match(/Usage: espalier \S+/)
        .and.match(/^ {2}# .*\n {2}espalier /m);
    });

  it('keeps help within the width of the terminal', async () => {
    const terminal = fakeTerminal({ columns: 80 });
    await runProgram(['apiserver', '--help'], terminal);
    for (const line of terminal.output.split('\n')) expect(line.length, line).to.be.at.most(80);
  });

  /** Their lines are no documents. */
  const withoutYaml = ['espalier logs', 'espalier test'];
  for (const { path, option } of outputOptions(createProgram(fakeTerminal(), () => undefined)))
    it(`has the usual formats: ${path} --output`, () => {
      if (option.argChoices === undefined) expect(path).to.equal('espalier targets create');
      else
        expect(option.argChoices).to.include.members(
          withoutYaml.includes(path) ? ['text'] : ['json', 'yaml'],
        );
      if (option.defaultValue === undefined) expect(option.description).to.contain('default');
    });

  const formats = new Map(
    outputOptions(createProgram(fakeTerminal(), () => undefined)).map(({ path, option }) => [
      path.replace('espalier ', ''),
      option.argChoices ?? [],
    ]),
  );
  /** Findings have no columns, so doctor has no wide. */
  const lists = ['installations inspect', 'installations events', 'jobs list', 'graph'];
  for (const path of [...lists, 'doctor', 'crds', 'blueprints render', 'install'])
    it(`prints names for scripts: ${path} -o name`, () => {
      expect(formats.get(path)).to.include('name');
    });
  for (const path of lists)
    it(`has more columns: ${path} -o wide`, () => {
      expect(formats.get(path)).to.include.members(['text', 'wide']);
    });

  it('lists the commands of a group', async () => {
    const terminal = fakeTerminal();
    expect(await runProgram(['inst'], terminal)).to.equal(0);
    expect(terminal.output).to.contain('Usage: espalier installations').and.contain('interrupt');
  });

  const mistakes: readonly (readonly [args: string, line: string])[] = [
    ['strt', "unknown command 'strt', did you mean start? See espalier --help"],
    ['inst inspct', "unknown command 'inspct', did you mean inspect? See espalier installations --help"],
    ['start --fooo', "unknown option '--fooo'; see espalier start --help"],
    ['inst reconcile', 'name one root installation, or add --all for all roots of the namespace'],
    [
      'start --metrics-address foo',
      "option '--metrics-address <host:port>' argument 'foo' is invalid: write it as HOST:PORT, such as 127.0.0.1:8080; see espalier start --help",
    ],
    [
      'webhooks',
      'the address of the webhooks is missing; give one of --webhook-service NAMESPACE/NAME and --webhook-url URL',
    ],
    [
      'webhooks --webhook-service ls/hooks --webhook-url https://hooks.example.org',
      'the address of the webhooks is ambiguous; give only one of --webhook-service NAMESPACE/NAME and --webhook-url URL',
    ],
    [
      'webhooks --webhook-service ls/hooks --disable-webhooks targets,contexts',
      'there is no webhook "contexts"; known are installations, deployitems, executions, targets, all',
    ],
    [
      'start --kubeconfig kc.yaml --deployers none,mock',
      'none cannot be combined with the name of a deployer',
    ],
    [
      'start --kubeconfig kc.yaml --deployers helmet',
      'there is no deployer "helmet"; known are helm, manifest, container, mock, and none',
    ],
    ['version -o xml', '--output: there is no "xml"; choose text, json, yaml; see espalier version --help'],
  ];
  for (const [args, line] of mistakes)
    it(`prints one line and exits with 2 for: ${args}`, async () => {
      const terminal = fakeTerminal();
      expect(await runProgram(args.split(' '), terminal)).to.equal(2);
      expect(terminal.errors).to.equal(`error: ${line}\n`);
      expect(terminal.output).to.equal('');
    });

  const failures: readonly (readonly [args: string, line: RegExp])[] = [
    [
      'start --kubeconfig /nowhere/k',
      /^error: cannot read kubeconfig \/nowhere\/k: no such file; .*--kubeconfig\n$/,
    ],
    [
      'inst inspect app -A',
      /^error: the --all-namespaces option cannot be used when an installation name is provided\n$/,
    ],
    ['inst inspect -o json -w', /^error: no more than one output mode may be set: json, wide\n$/],
    [
      'inst inspect -o xml',
      /^error: invalid option for '--output'\/'-o' flag: xml; choose text, tree, wide, yaml, json, name, dot, mermaid\n$/,
    ],
  ];
  for (const [args, line] of failures)
    it(`DEP-90: prints one line and exits with 1 for: ${args}`, async () => {
      const terminal = fakeTerminal();
      expect(await runProgram(args.split(' '), terminal)).to.equal(1);
      expect(terminal.errors).to.match(line);
    });

  it('prints the version as text and as JSON', async () => {
    const terminal = fakeTerminal();
    await runProgram(['version'], terminal);
    for (const flag of ['--version', '-V']) {
      const asked = fakeTerminal();
      expect(await runProgram([flag], asked)).to.equal(0);
      expect(asked.output).to.equal(terminal.output);
    }
    expect(terminal.output).to.match(/^Espalier \d+\.\d+\.\d+ \(Node\.js v/);
    const scripted = fakeTerminal();
    await runProgram(['version', '-o', 'json'], scripted);
    expect(JSON.parse(scripted.output)).to.include({
      node: process.version,
      api: 'landscaper.gardener.cloud/v1alpha1',
    });
  });

  it('prints all CustomResourceDefinitions', async () => {
    const terminal = fakeTerminal();
    await runProgram(['crds'], terminal);
    expect(terminal.output.split('\n---\n')).to.have.length(12);
    expect(terminal.output).to.contain('name: installations.landscaper.gardener.cloud');
  });
});
