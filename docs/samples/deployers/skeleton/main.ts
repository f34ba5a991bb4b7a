import { serve } from 'espalier/deployer-sdk';
import { plugin } from './deployer.ts';

await serve(plugin);
