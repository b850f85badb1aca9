// Prints the flags and keys that a package registers when real pi's own loader loads it.
//
//   node registered.mjs BUNDLE PACKAGE CWD AGENT_DIRECTORY
import { pathToFileURL } from "node:url";

const [bundle, place, cwd, agentDirectory] = process.argv.slice(2);
const { discoverAndLoadExtensions } = await import(pathToFileURL(bundle).href);
const { extensions } = await discoverAndLoadExtensions([place], cwd, agentDirectory);
const names = (field) => extensions.flatMap((extension) => [...extension[field].keys()]);
const text = JSON.stringify({ flags: names("flags"), shortcuts: names("shortcuts") });
// Extensions may print, too.
process.stdout.write(`\n${text}\n`, () => process.exit(0));
