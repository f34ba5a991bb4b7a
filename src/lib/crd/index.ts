/** CustomResourceDefinitions of your own kinds, generated from zod schemas. */
export {
  crdOf,
  type ConversionEndpoint,
  type Crd,
  type CrdOptions,
  type CrdVersion,
  type OtherVersion,
  type PrinterColumn,
  type SchemaRule,
} from './crd.ts';
export { SchemaError } from './structural.ts';
export { toYaml } from '../yaml.ts';
