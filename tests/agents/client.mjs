// Talks to a server with the official TypeScript SDK, and prints what it was told as JSON.
//
// node client.mjs http URL
// node client.mjs stdio COMMAND ARGUMENT...
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, target, ...rest] = process.argv.slice(2);
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args: rest, env: process.env });

const client = new Client({ name: "lorepack-test", version: "1.0.0" });
await client.connect(transport);
const { tools } = await client.listTools();
const found = await client.callTool({
  name: "find_chunks",
  arguments: { query: "why is a pack one file?", limit: 3 },
});
const wrong = await client.callTool({ name: "find_chunks", arguments: { bogus: 1 } });
const { resources } = await client.listResources();
const page = await client.readResource({ uri: resources[0].uri });
const told = {
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  tools: tools.map((tool) => tool.name),
  text: found.content[0].text,
  wrong: wrong.isError,
  page: page.contents[0].text,
};
await client.close();
console.log(JSON.stringify(told));
