/** Spiff's dialect of YAML. */
export { readSpiffYaml, readSpiffYamlAll } from './read.ts';
export { writeSpiffYaml } from './write.ts';
