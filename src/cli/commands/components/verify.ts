/** `espalier components verify`: whether components are what their descriptors and signatures say. */
import { existsSync, readFileSync } from 'node:fs';
import { addressOf } from '../../../components/context.ts';
import { ctfStore, readIndex } from '../../../components/ctf.ts';
import { nameOf } from '../../../components/descriptor.ts';
import { inspect, type Demand, type Findings } from '../../../components/inspect.ts';
import { componentsIn, ociRepository } from '../../../components/oci-repository.ts';
import type { FoundComponent, Repository } from '../../../components/repository.ts';
import { createComponentRepositories } from '../../../components/component-repositories.ts';
import { systemClock } from '../../../lib/clock.ts';
import { secureRng } from '../../../lib/secure-rng.ts';
import { archiveAt, counted, credentials, type RegistryOptions } from './places.ts';
import { CommandError, UsageError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface VerifyOptions extends RegistryOptions {
  readonly signature?: string;
  readonly publicKey?: string;
  readonly ca?: string;
}

/** @param chosen `NAME:VERSION`; of an archive all, when it is not given */
export async function verify(
  place: string,
  chosen: string | undefined,
  options: VerifyOptions,
  terminal: Terminal,
): Promise<void> {
  const demand = demandOf(options);
  const check = async (repository: Repository, wanted: readonly Wanted[]): Promise<void> => {
    let bad = 0;
    for (const { name, version } of wanted) {
      const found = await repository.find(name, version);
      if (!found) throw new CommandError(`there is no component ${nameOf({ name, version })} in ${place}`);
      if (!(await report(found, demand, terminal))) bad++;
    }
    if (bad > 0)
      throw new CommandError(`${counted(bad, 'component')} of ${String(wanted.length)} cannot be trusted`);
  };
  if (existsSync(place)) {
    const files = await archiveAt(place);
    const store = ctfStore(files, place);
    const all = componentsIn(await readIndex(files, place));
    if (all.length === 0) throw new CommandError(`there is no component in ${place}`);
    const repository = ociRepository({ store, prefix: '', mapping: 'urlPath', context: {}, name: place });
    await check(repository, chosen === undefined ? all : [parsed(chosen)]);
    return;
  }
  if (chosen === undefined) {
    throw new UsageError(
      `there is no archive ${place}; if it is a registry, name the component to check: NAME:VERSION`,
    );
  }
  const { host, path: prefix } = addressOf(place);
  const repositories = createComponentRepositories({
    clock: systemClock,
    rng: secureRng,
    allowPlainHttp: options.plainHttp === true,
  });
  try {
    const store = repositories.registry(host, credentials(options, terminal));
    const context = { type: 'OCIRegistry', baseUrl: place };
    await check(ociRepository({ store, prefix, mapping: 'urlPath', context, name: place }), [parsed(chosen)]);
  } finally {
    await repositories.close();
  }
}

interface Wanted {
  readonly name: string;
  readonly version: string;
}

function parsed(text: string): Wanted {
  const [, name, version] = /^(.+):([^:/]+)$/.exec(text) ?? [];
  if (name === undefined || version === undefined) {
    throw new UsageError(
      `"${text}" is not a component version: write NAME:VERSION, such as example.org/shop:1.0.0`,
    );
  }
  return { name, version };
}

function demandOf({ signature, publicKey, ca }: VerifyOptions): Demand | undefined {
  if (signature === undefined) {
    if (publicKey === undefined && ca === undefined) return undefined;
    throw new UsageError('name the signature to check with --signature');
  }
  const read = (file: string): string => {
    if (existsSync(file)) return readFileSync(file, 'utf8');
    throw new UsageError(`there is no file ${file}`);
  };
  if (publicKey !== undefined) return { signatureName: signature, trust: { publicKey: read(publicKey) } };
  if (ca !== undefined) return { signatureName: signature, trust: { caCertificates: read(ca) } };
  throw new UsageError('no key given to check the signature; set --public-key or --ca');
}

/** @returns whether nothing is wrong */
async function report(
  found: FoundComponent,
  demand: Demand | undefined,
  terminal: Terminal,
): Promise<boolean> {
  const findings = await inspect(found, demand);
  const { problems } = findings;
  terminal.print(
    `${nameOf(found.component)}: ${problems.length === 0 ? 'sound' : 'NOT SOUND'}, ${summary(findings, demand)}`,
  );
  for (const problem of problems) terminal.print(`  ${problem}`);
  return problems.length === 0;
}

function summary({ sound, unproved, elsewhere }: Findings, demand: Demand | undefined): string {
  const parts = [`${counted(sound.length, 'content')} compared`];
  if (unproved.length > 0) parts.push(`without a digest: ${unproved.join(', ')}`);
  if (elsewhere.length > 0) parts.push(`not here: ${elsewhere.join(', ')}`);
  if (demand) parts.push(`signature ${demand.signatureName} checked`);
  return parts.join('; ');
}
