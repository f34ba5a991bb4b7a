/** Spiff's own dialect of YAML. */
export { readSpiffYaml, readSpiffYamlAll } from './read.ts';
export { writeSpiffYaml } from './write.ts';
