/** Commands about components: packing them, bringing them into registries, and checking them. */
import { Option, type Command } from 'commander';
import type { RegistryOptions } from './places.ts';
import type { PackOptions } from './pack.ts';
import type { VerifyOptions } from './verify.ts';
import { examples } from '../../program-parts.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const PLAIN_HTTP = [
  '--plain-http',
  'allow plain HTTP: for http://HOST, and for hosts on this machine',
] as const;
const DOCKER_CONFIG = [
  '--docker-config <file>',
  'credentials; default config.json in DOCKER_CONFIG, or in ~/.docker',
] as const;

export function addComponentCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('components')
    .aliases(['component', 'comp'])
    .summary('pack components, push them into registries, and verify them')
    .description(
      'Packs folders as component versions, brings them into registries, and checks what is there. See docs/components.md.',
    );
  addPack(group, terminal);
  addPush(group, terminal);
  addVerify(group, terminal);
}

function addPack(group: Command, terminal: Terminal): void {
  group
    .command('pack')
    .argument('<folder>', 'folder with a file component.yaml; its folder blueprint is packed by itself')
    .summary('pack a folder as a component version into an archive')
    .description(
      'Packs a folder as a component version into an archive in the common transport format. An archive that is there gets one more version.',
    )
    .requiredOption('--to <file>', 'the archive to write')
    .addOption(
      new Option('--format <format>', 'default: as the archive is, or tgz for that ending, else tar').choices(
        ['directory', 'tar', 'tgz'],
      ),
    )
    .option('--force', 'replace a version that is in the archive with other contents')
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
    .argument('<registry>', 'where to, such as registry.example.org/components')
    .summary('store the component versions of an archive in a registry')
    .description(
      'Stores all component versions of an archive in a registry. Credentials are those of `docker login`, if there are any.',
    )
    .option(...PLAIN_HTTP)
    .option(...DOCKER_CONFIG)
    .addHelpText(
      'after',
      examples([
        ['espalier components push shop.ctf registry.example.org/components', 'into a registry'],
        ['espalier components push shop.ctf localhost:5000 --plain-http', 'into one on this machine'],
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
    .argument('[component]', 'NAME:VERSION; of an archive all, when it is left out')
    .summary('check that components are what their descriptors and signatures say')
    .description(
      'Reads all contents that lie beside a component and compares them with the digests in its descriptor, and components with the digests of references to them. What lies elsewhere is named and not fetched.',
    )
    .option('--signature <name>', 'demand this signature')
    .option('--public-key <file>', 'key that signed, PEM')
    .option('--ca <file>', 'certificates of authorities that vouch for who signed, PEM')
    .option(...PLAIN_HTTP)
    .option(...DOCKER_CONFIG)
    .addHelpText(
      'after',
      examples([
        ['espalier components verify shop.ctf', 'all components of an archive'],
        [
          'espalier components verify registry.example.org/components example.org/shop:1.0.0 --signature release --public-key key.pem',
          'one in a registry, which must be signed',
        ],
      ]),
    )
    .action(async (place: string, component: string | undefined, options: VerifyOptions) => {
      const { verify } = await import('./verify.ts');
      await verify(place, component, options, terminal);
    });
}
