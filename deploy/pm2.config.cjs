// pm2 start deploy/pm2.config.cjs: the packs in ./out on port 8000, from the project's .venv.
module.exports = {
  apps: [
    {
      name: "lorepack",
      script: ".venv/bin/lorepack",
      args: ["serve", "out", "--port", "8000"],
      interpreter: "none",
      kill_timeout: 5000,
      max_memory_restart: "1G",
      restart_delay: 2000,
    },
  ],
};
