/** Spiff functions that depend only on their arguments. The evaluator implements those that need expressions. */
import type { SpiffFunctionTable } from '../function.ts';
import { addressFunctions } from './addresses.ts';
import { cryptFunctions } from './crypt.ts';
import { encodingFunctions } from './encodings.ts';
import { featureFunctions } from './features.ts';
import { fileFunctions } from './files.ts';
import { hashFunctions } from './hashes.ts';
import { ipFunctions } from './ips.ts';
import { listFunctions } from './lists.ts';
import { numberFunctions } from './numbers.ts';
import { patternFunctions } from './patterns.ts';
import { randomFunctions } from './random.ts';
import { textFunctions } from './texts.ts';
import { versionFunctions } from './versions.ts';
import { wireguardFunctions } from './wireguard.ts';
import { x509Functions } from './x509.ts';

/**
 * By name. Functions with access to the host are not included: `env`, `exec`, `pipe`, `write`, `tempfile` and
 * `mkdir`.
 */
export const standardFunctions: SpiffFunctionTable = {
  ...textFunctions,
  ...patternFunctions,
  ...listFunctions,
  ...numberFunctions,
  ...encodingFunctions,
  ...hashFunctions,
  ...cryptFunctions,
  ...randomFunctions,
  ...addressFunctions,
  ...ipFunctions,
  ...versionFunctions,
  ...x509Functions,
  ...wireguardFunctions,
  ...fileFunctions,
  ...featureFunctions,
};
