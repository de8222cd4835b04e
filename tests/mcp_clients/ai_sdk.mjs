// The AI SDK, after the documented lines: the schemas and the tool outputs that its models get.
const answers = [];
for (const [name, input] of JSON.parse(process.env.CALLS)) {
  const output = await tools[name].execute(input, { toolCallId: "1", messages: [] });
  const { value } = await tools[name].toModelOutput({ toolCallId: "1", input, output });
  answers.push(value[0].text);
}
const schemas = {};
for (const [name, tool] of Object.entries(tools)) {
  schemas[name] = await tool.inputSchema.jsonSchema;
}
console.log(JSON.stringify({ tools: schemas, answers }));
await client.close();
