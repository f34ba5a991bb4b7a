import { serve } from 'espalier/deployer-sdk';
import { httpDeployer } from './deployer.ts';

await serve(httpDeployer);
