/** Commands about components: pack them, push them to registries, and verify them. */
import { Option, type Command } from 'commander';
import type { RegistryOptions } from './sources.ts';
import type { PackOptions } from './pack.ts';
import type { VerifyOptions } from './verify.ts';
import { examples } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const PLAIN_HTTP = [
  '--plain-http',
  'allow plain HTTP: for http://HOST, and for hosts that do not speak TLS',
] as const;
const DOCKER_CONFIG = [
  '--docker-config <file>',
  'credentials; default config.json in DOCKER_CONFIG, or in ~/.docker',
] as const;

export function addComponentCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('components')
    .aliases(['component', 'comp'])
    .summary('pack, push and verify components')
    .description(
      'Packs folders as component versions, pushes them to registries, and verifies component versions. See docs/components.md.',
    );
  addPack(group, terminal);
  addPush(group, terminal);
  addVerify(group, terminal);
}

function addPack(group: Command, terminal: Terminal): void {
  group
    .command('pack')
    .argument(
      '<folder>',
      'folder with a file component.yaml; its folder blueprint is packed without an entry',
    )
    .summary('pack a folder as a component version into an archive')
    .description(
      'Packs a folder as a component version into an archive in the common transport format. If the archive exists, the version is added to it.',
    )
    .requiredOption('--to <file>', 'the archive to write')
    .addOption(
      new Option(
        '--format <format>',
        'default: that of the existing archive, else tgz for the suffix .tgz, else tar',
      ).choices(['directory', 'tar', 'tgz']),
    )
    .option('--force', 'replace a version that is in the archive with different content')
    .addHelpText(
      'after',
      examples([['espalier components pack ./shop --to shop.ctf', 'the component in the folder shop']]),
    )
    .action(async (folder: string, options: PackOptions) => {
      const { pack } = await import('./pack.ts');
      await pack(folder, options, terminal);
    });
}

function addPush(group: Command, terminal: Terminal): void {
  group
    .command('push')
    .argument('<archive>', 'archive in the common transport format')
    .argument('<registry>', 'destination, such as registry.example.org/components')
    .summary('store the component versions of an archive in a registry')
    .description(
      'Stores all component versions of an archive in a registry. Uses the credentials of `docker login`, if there are any.',
    )
    .option(...PLAIN_HTTP)
    .option(...DOCKER_CONFIG)
    .addHelpText(
      'after',
      examples([
        ['espalier components push shop.ctf registry.example.org/components', 'to a registry'],
        ['espalier components push shop.ctf localhost:5000 --plain-http', 'to a registry on this machine'],
      ]),
    )
    .action(async (archive: string, registry: string, options: RegistryOptions) => {
      const { push } = await import('./pack.ts');
      await push(archive, registry, options, terminal);
    });
}

function addVerify(group: Command, terminal: Terminal): void {
  group
    .command('verify')
    .argument('<place>', 'archive in the common transport format, or a registry')
    .argument('[component]', 'NAME:VERSION; default: all versions of the archive')
    .summary('check components against their descriptors and signatures')
    .description(
      'Compares the resources stored with a component with the digests in its descriptor, and referenced components with the digests of the references. Resources stored elsewhere are listed but not fetched.',
    )
    .option('--signature <name>', 'require this signature')
    .option('--public-key <file>', 'public key of the signer, PEM')
    .option('--ca <file>', 'certificates of the authorities that issued the certificate of the signer, PEM')
    .option(...PLAIN_HTTP)
    .option(...DOCKER_CONFIG)
    .addHelpText(
      'after',
      examples([
        ['espalier components verify shop.ctf', 'all components of an archive'],
        [
          'espalier components verify registry.example.org/components example.org/shop:1.0.0 --signature release --public-key key.pem',
          'one in a registry, with its signature',
        ],
      ]),
    )
    .action(async (place: string, component: string | undefined, options: VerifyOptions) => {
      const { verify } = await import('./verify.ts');
      await verify(place, component, options, terminal);
    });
}
