// A report with an HTML comment and a script in it: text is text, whatever is in it.
const todos = await E(workspace).search('TODO');
const rows = todos.map(({ path, line, text }) => `<li>${path}:${line} ${text.trim()}</li>`).join('\n');
const page = `<!doctype html>
<!-- made by a program -->
<ul>
${rows}
</ul>
<script type="module">const { chart } = await import('./chart.js'); eval('chart()'); // -->
</script>
`;
await E(workspace).write('report.html', page);
return { todos: todos.length, same: (await E(workspace).readText('report.html')) === page };
