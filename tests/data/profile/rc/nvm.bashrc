# shellcheck disable=all
export NVM_DIR="$HOME/.nvm"
[ -s "$NVM_DIR/nvm.sh" ] && \. "$NVM_DIR/nvm.sh"  # This loads nvm
[ -s "$NVM_DIR/bash_completion" ] && \. "$NVM_DIR/bash_completion"

cdnvm() {
    command cd "$@" || return $?
    nvm_path="$(nvm_find_up .nvmrc | command tr -d '\n')"
    if [[ ! $nvm_path = *[^[:space:]]* ]]; then
        declare default_version
        default_version="$(nvm version default)"
        if [ $default_version = 'N/A' ]; then
            nvm alias default node
        fi
    fi
}
alias cd='cdnvm'
export PATH="$PATH:$HOME/.rvm/bin"
cat <<'BANNER' >/dev/null
  # >>> profile:fake >>>
  it's a trap: "unbalanced
BANNER
