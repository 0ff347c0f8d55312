/** `probe.ts NAME …`: prints those needs that this machine has, as `HOB_REQUIRE` takes them. For `.ci/run`. */
import { NEEDS, needs } from '../test/probes.ts';

const names = process.argv.slice(2);
console.log(NEEDS.filter((need) => names.includes(need) && needs(need)).join(','));
