async function attack() {
  const text = "\u001b]0;PWNED-title\u0007\u001b[2J\u001b[31mred\u009b31m\r\u0008\n::set-output name=x::y\n::add-mask::pass\n::error::x\n::stop-commands::x\n##[error]\n\u202Egpj.exe\u2028\n---\nkind: x\n|a|b|\n<script>alert(1)</script>";
  console.log(text);
  console.error(text);
  process.stderr.write(text);
  note(text.replaceAll("PWNED-title", "title"));
}
