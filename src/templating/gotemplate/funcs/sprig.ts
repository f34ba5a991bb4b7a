/** The function library sprig, without functions for the environment and the network. */
import type { FunctionTable } from '../env.ts';
import { bcryptFunctions } from './bcrypt.ts';
import { certificateFunctions } from './certificates.ts';
import { dateFunctions } from './dates.ts';
import { defaultFunctions } from './defaults.ts';
import { dictFunctions } from './dicts.ts';
import { encodingFunctions } from './encoding.ts';
import { hashFunctions } from './hashes.ts';
import { jsonFunctions } from './json.ts';
import { keyFunctions } from './keys.ts';
import { listFunctions } from './lists.ts';
import { mathFunctions } from './math.ts';
import { pathFunctions } from './paths.ts';
import { randomFunctions } from './random.ts';
import { regexFunctions } from './regex.ts';
import { semverFunctions } from './semver.ts';
import { stringFunctions } from './strings.ts';
import { urlFunctions } from './urls.ts';
import { wordFunctions } from './words.ts';

export const sprigFunctions: FunctionTable = {
  ...stringFunctions,
  ...wordFunctions,
  ...listFunctions,
  ...dictFunctions,
  ...defaultFunctions,
  ...mathFunctions,
  ...jsonFunctions,
  ...encodingFunctions,
  ...hashFunctions,
  ...bcryptFunctions,
  ...keyFunctions,
  ...certificateFunctions,
  ...randomFunctions,
  ...regexFunctions,
  ...semverFunctions,
  ...dateFunctions,
  ...pathFunctions,
  ...urlFunctions,
};
