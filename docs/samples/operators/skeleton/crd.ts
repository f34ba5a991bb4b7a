/** Writes crd.yaml from the schema in kind.ts. */
import { writeFileSync } from 'node:fs';
import { toYaml } from 'espalier/crd';
import { crd } from './kind.ts';

writeFileSync('crd.yaml', toYaml(crd));
