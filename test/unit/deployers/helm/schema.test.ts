import { describeSchema } from '../whole-configurations.ts';

describeSchema('helm');
