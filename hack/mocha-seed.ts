/**
 * The seed of all property tests, so that a failure can be repeated: always the same, or ESPALIER_TEST_SEED. A suite
 * that is to try other values each time sets it to a new one.
 */
import fc from 'fast-check';

const SEED = 20_260_101;
const text = process.env['ESPALIER_TEST_SEED'] ?? String(SEED);
const seed = Number(text);
if (text === '' || !Number.isInteger(seed))
  throw new Error(`ESPALIER_TEST_SEED must be an integer, not "${text}"`);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

process.stdout.write(`seed of property tests: ${seed}; repeat with ESPALIER_TEST_SEED=${seed}\n`);
