/** `espalier components verify`: checks components against their descriptors and signatures. */
import { existsSync, readFileSync } from 'node:fs';
import { addressOf } from '../../../components/context.ts';
import { ctfStore, readIndex } from '../../../components/ctf.ts';
import { nameOf } from '../../../components/descriptor.ts';
import { inspect, type RequiredSignature, type Findings } from '../../../components/inspect.ts';
import { componentsIn, ociRepository } from '../../../components/oci-repository.ts';
import type { FoundComponent, Repository } from '../../../components/repository.ts';
import { createComponentRepositories } from '../../../components/component-repositories.ts';
import { systemClock } from '../../../lib/clock.ts';
import { secureRng } from '../../../lib/secure-rng.ts';
import { archiveAt, counted, credentials, type RegistryOptions } from './sources.ts';
import { CommandError, UsageError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface VerifyOptions extends RegistryOptions {
  readonly signature?: string;
  readonly publicKey?: string;
  readonly ca?: string;
}

/** @param chosen `NAME:VERSION`; default: all components of an archive */
export async function verify(
  place: string,
  chosen: string | undefined,
  options: VerifyOptions,
  terminal: Terminal,
): Promise<void> {
  const required = requiredSignature(options);
  const check = async (repository: Repository, wanted: readonly Wanted[]): Promise<void> => {
    let failedCount = 0;
    for (const { name, version } of wanted) {
      const found = await repository.find(name, version);
      if (!found) throw new CommandError(`there is no component ${nameOf({ name, version })} in ${place}`);
      if (!(await report(found, required, terminal))) failedCount++;
    }
    if (failedCount > 0)
      throw new CommandError(
        `verification failed for ${String(failedCount)} of ${counted(wanted.length, 'component')}`,
      );
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

function requiredSignature({ signature, publicKey, ca }: VerifyOptions): RequiredSignature | undefined {
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

/** @returns whether the component passes all checks */
async function report(
  found: FoundComponent,
  required: RequiredSignature | undefined,
  terminal: Terminal,
): Promise<boolean> {
  const findings = await inspect(found, required);
  const { problems } = findings;
  terminal.print(
    `${nameOf(found.component)}: ${problems.length === 0 ? 'verified' : 'NOT VERIFIED'}, ${summary(findings, required)}`,
  );
  for (const problem of problems) terminal.print(`  ${problem}`);
  return problems.length === 0;
}

function summary(
  { verified, unverified, notFetched }: Findings,
  required: RequiredSignature | undefined,
): string {
  const parts = [`${counted(verified.length, 'content')} compared`];
  if (unverified.length > 0) parts.push(`without a digest: ${unverified.join(', ')}`);
  if (notFetched.length > 0) parts.push(`not fetched: ${notFetched.join(', ')}`);
  if (required) parts.push(`signature ${required.signatureName} checked`);
  return parts.join('; ');
}
